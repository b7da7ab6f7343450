"""Untrusted files are parsed in a process of their own, which has limits on memory and time.

Libraries reserve what a crafted file claims, or end the process. ``parent`` starts that process and reads
what it sends, ``child`` is what runs there. Neither ``child`` nor the parsers that it loads import this
package: the process starts in a tenth of a second.
"""
