"""Problems whose true answer is known, and what is measured on them: one folder per question."""
