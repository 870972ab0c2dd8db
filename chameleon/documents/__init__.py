"""Tables and passages of a user's files: folders, databases, PDF, HTML, Markdown and workbooks."""
