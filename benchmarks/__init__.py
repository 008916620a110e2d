"""Speed, measured beside what sets its limit and what people would do otherwise; see README.md."""
