package capture

import "maps"

// Without returns the capture as it is without some files, by their names without .json, or
// with their calls refused: what Open reads of a folder that lacks them, without reading the
// others again. The time stays: only a folder without time.txt takes it from its files.
func (c *Capture) Without(files []string, refused bool) *Capture {
	less := *c
	less.files, less.refused, less.partial = maps.Clone(c.files), maps.Clone(c.refused), maps.Clone(c.partial)
	less.Account, less.Region, less.Clusters = "", "", nil
	for _, name := range files {
		name = tidyName(name)
		delete(less.files, name)
		delete(less.refused, name)
		delete(less.partial, name)
		if refused {
			less.refused[name] = refusal{code: "AccessDenied", message: "not authorized"}
		}
	}
	less.identify()
	return &less
}
