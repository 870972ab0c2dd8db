"""Tables and passages of a user's own files: folders, databases, PDF, HTML, Markdown and workbooks."""
