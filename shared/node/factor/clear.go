package factor

import (
	"time"

	"rollcall/shared/node/exact"
)

// clear is the value that alone tells the launches that failed from those of the same
// hours that joined; nil where there is none. Values of the very same launches are the
// suspects then, to be named together.
func (j *judge) clear() *suspect {
	var failed, joined []Launch
	for _, l := range j.list {
		if l.Failed {
			failed = append(failed, l)
		} else {
			joined = append(joined, l)
		}
	}
	if len(failed) < clearFailed || failed[len(failed)-1].Started.Sub(failed[0].Started) > clearSpan {
		return nil
	}
	var found []*suspect
	for kind := range kinds {
		name := failed[0].Of[kind]
		if name == "" || !all(failed, func(l Launch) bool { return l.Of[kind] == name }) || !all(joined, func(l Launch) bool { return l.Of[kind] != name }) {
			continue
		}
		others := 0
		for _, l := range joined {
			if l.Of[kind] != "" && near(failed, l.Started) {
				others++
			}
		}
		if others < max(clearOthers, 3*len(failed)) {
			continue
		}
		n := len(failed) + others
		of := units(j.list, kind, nil)[name]
		found = append(found, &suspect{
			kind: kind, name: name, drawn: of, tally: tally{failed: failedOf(of), units: len(of)},
			p: exact.Tail([]exact.Stratum{{Launches: n, Failed: len(failed), Drawn: len(failed)}}, len(failed)),
		})
	}
	if len(found) == 0 {
		return nil
	}
	j.suspects, j.tried = found, max(j.tried, kinds)
	return found[0]
}

func all(list []Launch, is func(Launch) bool) bool {
	for _, l := range list {
		if !is(l) {
			return false
		}
	}
	return true
}

// near tells that one of the launches began within an hour of a time.
func near(list []Launch, at time.Time) bool {
	return !all(list, func(l Launch) bool { return l.Started.Sub(at).Abs() > time.Hour })
}
