package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"rollcall/shared/diagnose"
)

// Split cuts an observation into parts whose JSON has at most limit bytes
// each, and that together say the same: a launch, and all that is said of it,
// is in one part. What is not about launches is in the first, but for what
// could and could not be read, which each part needs to be judged.
//
// One that is small enough stays as it is. The parts have the same time, so
// that they count as one look.
func (obs Observation) Split(limit int) ([]Observation, error) {
	obs, err := obs.FewerCharts(min(limit, MaxCharted))
	if err != nil {
		return nil, err
	}
	ids := obs.instances()
	for n := 1; ; n *= 2 {
		parts := obs.parts(ids, n)
		largest := 0
		for _, p := range parts {
			body, err := json.Marshal(p)
			if err != nil {
				return nil, fmt.Errorf("encode the observation of %s: %w", obs.Cluster, err)
			}
			largest = max(largest, len(body))
		}
		if largest <= limit {
			return parts, nil
		}
		if n >= len(ids) {
			return nil, fmt.Errorf("a part of the observation of %s has %d bytes, a message may have %d", obs.Cluster, largest, limit)
		}
	}
}

// MaxCharted is how large an observation may become by its charts: well within
// a message (SQS: 1 MiB, 256 KiB before August 2025).
const MaxCharted = 240 << 10

// FewerCharts leaves out as many charts, the last ones first, as make the
// observation's JSON at most limit bytes; all of them if that is not enough.
func (obs Observation) FewerCharts(limit int) (Observation, error) {
	for len(obs.Charts) > 0 {
		body, err := json.Marshal(obs)
		if err != nil {
			return obs, fmt.Errorf("encode the observation of %s: %w", obs.Cluster, err)
		}
		if len(body) <= limit {
			break
		}
		obs.Charts = obs.Charts[:len(obs.Charts)-1]
	}
	return obs, nil
}

// instances are all that the observation tells of, sorted.
func (obs Observation) instances() []string {
	var ids []string
	for _, l := range obs.Launches {
		ids = append(ids, l.Instance)
	}
	for _, c := range obs.Diagnosis.Causes {
		ids = append(ids, c.Instances...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// parts cuts an observation into n, by the instances' order.
func (obs Observation) parts(ids []string, n int) []Observation {
	if n == 1 {
		return []Observation{obs}
	}
	parts := make([]Observation, n)
	for k := range parts {
		// A part's own are those in this piece of the order; what is no
		// instance is the first part's.
		from, to := k*len(ids)/n, (k+1)*len(ids)/n
		parts[k] = obs.part(k, func(id string) bool {
			i, instance := slices.BinarySearch(ids, id)
			return instance && from <= i && i < to
		}, func(id string) bool {
			_, instance := slices.BinarySearch(ids, id)
			return instance
		})
	}
	return parts
}

// tagsOf are the tags of the nodegroups that a part names.
func (obs Observation) tagsOf() map[string]map[string]string {
	kept := map[string]map[string]string{}
	keep := func(name string) {
		if tags, known := obs.Tags[name]; known {
			kept[name] = tags
		}
	}
	for _, l := range obs.Launches {
		keep(l.Nodegroup)
		keep(l.Group)
	}
	for _, c := range obs.Diagnosis.Causes {
		for _, name := range c.Nodegroups {
			keep(name)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// part is the k-th part: own tells its instances, instance those of any part.
func (obs Observation) part(k int, own, instance func(string) bool) Observation {
	p := obs
	if k > 0 {
		p.ID = fmt.Sprintf("%s#%d", obs.ID, k+1)
		p.Facts, p.Absent, p.Charts = nil, nil, nil
	}
	keep := func(list []string, other bool) []string {
		var kept []string
		for _, id := range list {
			if own(id) || other && !instance(id) {
				kept = append(kept, id)
			}
		}
		return kept
	}
	p.Launches = nil
	for _, l := range obs.Launches {
		if own(l.Instance) {
			p.Launches = append(p.Launches, l)
		}
	}
	p.Diagnosis.Causes = nil
	for _, c := range obs.Diagnosis.Causes {
		had := len(c.Instances)
		c.Instances, c.Covers = keep(c.Instances, false), keep(c.Covers, true)
		if len(c.Instances) > 0 || had == 0 && k == 0 {
			p.Diagnosis.Causes = append(p.Diagnosis.Causes, c)
		}
	}
	p.Tags = p.tagsOf()
	p.Diagnosis.Passed = nil
	for _, passed := range obs.Diagnosis.Passed {
		if passed.Covers = keep(passed.Covers, k == 0); len(passed.Covers) > 0 {
			p.Diagnosis.Passed = append(p.Diagnosis.Passed, passed)
		}
	}
	p.Diagnosis.Unknown = nil
	for _, u := range obs.Diagnosis.Unknown {
		whole := len(u.Covers) == 0 // it covers the whole scope
		if u.Covers = keep(u.Covers, k == 0); whole || len(u.Covers) > 0 {
			p.Diagnosis.Unknown = append(p.Diagnosis.Unknown, diagnose.Unknown{Check: u.Check, Covers: u.Covers, Blocked: u.Blocked})
		}
	}
	return p
}
