package specs

import (
	"testing"

	"rollcall/shared/spec"
)

// TestSpokeDigest: a spoke whose template does something else has another digest, so that
// rollcall doctor tells that it is old; and what is the hub's alone changes nothing.
func TestSpokeDigest(t *testing.T) {
	list := func(change func(*spec.Spec)) []spec.Spec {
		s := spec.Spec{
			Name: "f", Assumes: []spec.SpokeRole{spec.SpokeReader}, Reads: []spec.Read{{Actions: []string{"ec2:DescribeVpcs"}, Resources: []string{"*"}}},
			Rules: []spec.Rule{{Name: "r", Pattern: `{"source":["aws.ec2"]}`}},
		}
		if change != nil {
			change(&s)
		}
		return []spec.Spec{s}
	}
	asks := []string{AskRelays, "x-relay-*"}
	was := digest(list(nil), asks)
	for name, got := range map[string]string{
		"it asks no relays":       digest(list(nil), nil),
		"it asks by another name": digest(list(nil), []string{AskRelays, "x-*"}),
		"it reads more":           digest(list(func(s *spec.Spec) { s.Reads[0].Actions = append(s.Reads[0].Actions, "ec2:DescribeSubnets") }), asks),
		"it forwards other":       digest(list(func(s *spec.Spec) { s.Rules[0].Pattern = `{"source":["aws.eks"]}` }), asks),
		"another function":        digest(list(func(s *spec.Spec) { s.Name = "g" }), asks),
		"another role":            digest(list(func(s *spec.Spec) { s.Assumes = append(s.Assumes, spec.SpokeCleaner) }), asks),
	} {
		if got == was {
			t.Errorf("%s, and the digest is the same", name)
		}
	}
	if got := digest(list(func(s *spec.Spec) {
		s.Reads = append(s.Reads, spec.Read{Actions: []string{"dynamodb:Query"}, Resources: []string{string(spec.Table)}})
	}), asks); got != was {
		t.Error("what the hub reads of its own stack changes the digest")
	}
}
