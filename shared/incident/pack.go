package incident

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// An incident of a large burst names the same instances again and again: as
// what it covers, in the verdicts, among the launches that are not kept by
// name. Its JSON names each once, so that 5,000 fit into an item of the table.

// plain is an incident without its own JSON.
type plain Incident

// packed is an incident as it is written.
type packed struct {
	plain
	// Covers and More are those that the verdicts do not give.
	Covers   []string `json:"covers,omitempty"`
	More     []string `json:"more,omitempty"`
	Verdicts []same   `json:"verdicts,omitempty"`
	// CauseCovers tells that the cause covers what the incident covers.
	CauseCovers bool `json:"causeCovers,omitempty"`
	// MoreCovers tells that what it covers, and is not kept by name, is in More.
	MoreCovers bool `json:"moreCovers,omitempty"`
}

// same are the verdicts that were found at once.
type same struct {
	Found Found     `json:"found"`
	At    time.Time `json:"at"`
	Of    []string  `json:"of"`
}

// MarshalJSON writes the incident, naming each instance once.
func (inc Incident) MarshalJSON() ([]byte, error) {
	p := packed{plain: plain(inc), More: inc.More}
	var of []string
	for _, v := range inc.Verdicts {
		of = append(of, v.Of)
		i := slices.IndexFunc(p.Verdicts, func(s same) bool { return s.Found == v.Found && s.At.Equal(v.At) })
		if i < 0 {
			i = len(p.Verdicts)
			p.Verdicts = append(p.Verdicts, same{Found: v.Found, At: v.At})
		}
		p.Verdicts[i].Of = append(p.Verdicts[i].Of, v.Of)
	}
	slices.Sort(of)
	p.Covers = without(inc.Covers, of)
	if len(inc.Covers) > 0 && slices.Equal(inc.Cause.Covers, inc.Covers) {
		p.CauseCovers, p.Cause.Covers = true, nil
	}
	if rest := inc.unkept(); len(rest) > 0 && len(without(rest, inc.More)) == 0 {
		p.MoreCovers, p.More = true, without(inc.More, rest)
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (inc *Incident) UnmarshalJSON(body []byte) error {
	var p packed
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	*inc = Incident(p.plain)
	for _, s := range p.Verdicts {
		for _, of := range s.Of {
			inc.Verdicts = append(inc.Verdicts, Verdict{Of: of, Found: s.Found, At: s.At})
		}
	}
	slices.SortStableFunc(inc.Verdicts, func(a, b Verdict) int { return strings.Compare(a.Of, b.Of) })
	inc.Covers = p.Covers
	for _, v := range inc.Verdicts {
		inc.Covers = append(inc.Covers, v.Of)
	}
	slices.Sort(inc.Covers)
	inc.Covers = slices.Compact(inc.Covers)
	if p.CauseCovers {
		inc.Cause.Covers = slices.Clone(inc.Covers)
	}
	inc.More = p.More
	if p.MoreCovers {
		inc.More = append(inc.More, inc.unkept()...)
		slices.Sort(inc.More)
	}
	return nil
}

// unkept is what the incident covers beside the launches kept by name.
func (inc *Incident) unkept() []string {
	var rest []string
	for _, id := range inc.Covers {
		if _, kept := inc.KeptLaunch(id); !kept {
			rest = append(rest, id)
		}
	}
	return rest
}

// without is a list less the members of a sorted one.
func without(list, sorted []string) []string {
	var kept []string
	for _, id := range list {
		if _, found := slices.BinarySearch(sorted, id); !found {
			kept = append(kept, id)
		}
	}
	return kept
}
