"""Read and describe pictures: text engines, reading order, captioning models, batches."""

from chameleon.lazy import tools

TOOLS = ("image_captioner", "multimodal_captioner", "text_detector", "visual_question_answering")

__getattr__ = tools(__name__, TOOLS)
