package diagnose

import (
	"slices"

	"rollcall/shared/checks"
)

// attach gives each symptom to the causes that have its instance.
func (r *ranking) attach() {
	of := map[string][]*fault{}
	for _, f := range r.faults {
		if len(f.behind) > 0 || f.confidence == checks.Advice {
			continue
		}
		for _, id := range f.Instances {
			of[id] = append(of[id], f)
		}
	}
	for _, f := range r.symptoms {
		explained := len(f.Instances) > 0 || r.byResource(f)
		for _, id := range f.Instances {
			explained = explained && len(of[id]) > 0
			for _, cause := range of[id] {
				cause.signs = with(cause.signs, f.Check)
			}
		}
		if !explained {
			r.spare = append(r.spare, f)
		}
	}
}

// byResource gives a symptom that names no instance (none was ever started) to
// the causes that its check comes after, of a resource that it names.
func (r *ranking) byResource(f *fault) (explained bool) {
	for _, cause := range r.faults {
		if len(cause.behind) > 0 || cause.confidence == checks.Advice || !r.checks[cause.Check].Among(r.checks[f.Check].After) {
			continue
		}
		if slices.ContainsFunc(f.Resources, func(id string) bool { return cause.has[id] }) {
			cause.signs = with(cause.signs, f.Check)
			explained = true
		}
	}
	return explained
}

// unite puts symptoms that nothing explains behind those of the same things
// that their check comes after: one is only the sum of the other.
func (r *ranking) unite() {
	r.spare = slices.DeleteFunc(slices.Clone(r.spare), func(f *fault) bool {
		for _, other := range r.spare {
			if other != f && r.checks[other.Check].Among(r.checks[f.Check].After) && slices.Equal(f.Covers, other.Covers) {
				other.signs = with(other.signs, f.Check)
				return true
			}
		}
		return false
	})
}
