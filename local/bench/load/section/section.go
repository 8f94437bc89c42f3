// Package section keeps the section of docs/load.md that another program writes.
package section

import "strings"

const heading = "\n## A tick\n"

// Of is the section of a page, with its heading; "" where it has none.
func Of(page string) string {
	_, text, found := strings.Cut(page, heading)
	if !found {
		return ""
	}
	return heading + text
}

// Put is the page with the section at its end, in place of the one that it has.
func Put(page, text string) string {
	page, _, _ = strings.Cut(page, heading)
	return page + heading + text
}
