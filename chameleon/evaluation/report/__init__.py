"""Reports: the paper's table with our runs beside it, and a page in which every problem opens."""

from chameleon.evaluation.report.page import write_page
from chameleon.evaluation.report.summary import RunSummary, facts, verdict_of
from chameleon.evaluation.report.table import Comparison, Line, compare

__all__ = ["Comparison", "Line", "RunSummary", "compare", "facts", "verdict_of", "write_page"]
