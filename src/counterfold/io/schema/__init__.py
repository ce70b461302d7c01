"""Tables: from columns that are mapped by name to logs and targets."""
