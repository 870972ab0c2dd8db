"""Answer a question from the picture itself (visual question answering; Antol et al., 2015)."""

from pydantic import PositiveInt

from chameleon.modules.program.solution_generator import SolutionGenerator


class VisualQuestionAnswering(SolutionGenerator):
    """Looks at the image itself and writes a solution that ends with "The answer is …"."""

    prompt = "pictures/visual_question_answering"
    reads = "input.image, input.question, input.text?, input.choices?"

    def __init__(self, max_side: PositiveInt = 1024) -> None:
        """Scale pictures down to `max_side` pixels on the longer side before they are sent."""
        super().__init__("image", max_side)
