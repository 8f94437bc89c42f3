package plan

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// shuffle puts every list below a value into another order, as AWS's answers
// come in any. Bytes are no list.
func shuffle(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			shuffle(v.Elem(), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				shuffle(v.Field(i), r)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			shuffle(v.Index(i), r)
		}
		r.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
	}
}

// rich are right worlds in which there is a choice to be made.
func rich() map[string]struct {
	world func() (*snapshot.Snapshot, Subject)
	list  []checks.Check
} {
	type story = struct {
		world func() (*snapshot.Snapshot, Subject)
		list  []checks.Check
	}
	return map[string]story{
		"route": {func() (*snapshot.Snapshot, Subject) {
			s, of := noWayOut()
			for i := range s.RouteTables {
				if s.RouteTables[i].ID == of.Resource {
					s.RouteTables[i].Tags = map[string]string{"ManagedBy": "terraform", "Terraform": "true", "iac": "OpenTofu", "created-by": "Pulumi", "Name": "x"}
				}
			}
			nat := s.NATGateways[0]
			nat.ID = "nat-0zz"
			s.NATGateways = append(s.NATGateways, nat)
			return s, of
		}, checks.All()},
		"open": {func() (*snapshot.Snapshot, Subject) {
			s, of := shutOut()
			var second snapshot.SecurityGroup
			for _, g := range s.SecurityGroups {
				if len(s.Endpoints[0].Groups) > 0 && g.ID == s.Endpoints[0].Groups[0] {
					second = g
				}
			}
			second.ID, second.Name = "sg-0000second", "second"
			s.SecurityGroups = append(s.SecurityGroups, second)
			for i := range s.Endpoints {
				if s.Endpoints[i].Kind == "Interface" {
					s.Endpoints[i].Groups = append([]string{second.ID}, s.Endpoints[i].Groups...)
				}
			}
			for i := range of.Wearers {
				of.Wearers[i].Groups = append([]string{second.ID}, of.Wearers[i].Groups...)
			}
			return s, of
		}, checks.All()},
		"cover":   {threeZones, saying(gap, gapAt("us-west-2c"))},
		"access":  {outsider, checks.All()},
		"replace": {healed, checks.All()},
		"cleanup": {func() (*snapshot.Snapshot, Subject) {
			s, of := leaked()
			for n := 1; n < 2*MostInterfaces; n++ {
				i := leftBehind(n)
				s.Idle = append(s.Idle, i)
				seen := of.Sightings["eni-0left0000"]
				seen.Interface = i.ID
				of.Sightings[i.ID] = seen
			}
			for _, i := range s.Idle {
				seen := of.Sightings[i.ID]
				seen.Print = leak.Print(i)
				of.Sightings[i.ID] = seen
			}
			return s, of
		}, checks.All()},
	}
}

// An approval is bound to the hash: the same world, read again, in whatever order
// AWS lists it and Go its maps, must be the same plan, or no approval would hold.
func TestSameWorldInAnyOrderIsTheSamePlan(t *testing.T) {
	for name, x := range rich() {
		s, of := x.world()
		first, no := makeWith(s, of, x.list)
		if no != nil {
			t.Errorf("%s: refused as %s: %s", name, no.Reason, no.Says)
			continue
		}
		for seed := range uint64(60) {
			s, of := x.world()
			r := rand.New(rand.NewPCG(seed, 1))
			shuffle(reflect.ValueOf(s), r)
			shuffle(reflect.ValueOf(&of), r)
			again, no := makeWith(s, of, x.list)
			if no != nil {
				t.Errorf("%s, seed %d: refused as %s: %s", name, seed, no.Reason, no.Says)
				break
			}
			if again.Hash() != first.Hash() {
				t.Errorf("%s, seed %d: another plan:\n%+v\n%+v", name, seed, first.Steps(), again.Steps())
				break
			}
		}
	}
}
