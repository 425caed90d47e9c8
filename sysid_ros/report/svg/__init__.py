"""Small static charts as inline SVG: sharp in print, styled by the page, no script."""
