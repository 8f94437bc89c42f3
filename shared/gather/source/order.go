package source

import (
	"slices"

	"rollcall/shared/snapshot"
)

// With are the named sources out of all, once each, and those without which
// they cannot be read. A name that is none of theirs is left out: the launch
// history is of our own table.
func With(all []Source, names ...snapshot.Source) []Source {
	var list []Source
	var add func(snapshot.Source)
	add = func(name snapshot.Source) {
		i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
		if i < 0 || slices.ContainsFunc(list, func(s Source) bool { return s.Name == name }) {
			return
		}
		list = append(list, all[i])
		for _, needed := range all[i].Needs {
			add(needed)
		}
	}
	for _, name := range names {
		add(name)
	}
	return list
}

// Waves puts sources in the order in which to read them: those of one wave at
// the same time, each after those of the list that it needs or comes after. A
// source that waits for none of them is in the first.
func Waves(list []Source) [][]Source {
	var waves [][]Source
	for left := list; len(left) > 0; {
		var wave, later []Source
		for _, s := range left {
			waits := slices.ContainsFunc(left, func(o Source) bool {
				return slices.Contains(s.Needs, o.Name) || slices.Contains(s.After, o.Name)
			})
			if waits {
				later = append(later, s)
			} else {
				wave = append(wave, s)
			}
		}
		if len(wave) == 0 {
			// They wait for each other, which a test forbids: read them all the same.
			return append(waves, later)
		}
		waves, left = append(waves, wave), later
	}
	return waves
}
