"""How pictures are read and described: text engines, reading order, captioning models, batches."""

TOOLS = ("image_captioner", "multimodal_captioner", "text_detector", "visual_question_answering")
