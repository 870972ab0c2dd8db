"""Papers of a user's own: contracts, reports and filings, read into passages by headings and numbering."""
