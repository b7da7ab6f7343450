"""Every reader of files that come from elsewhere, fed with damaged ones."""
