package lifecycle

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// ZoneFault is what is wrong with a zone now, nil where nothing is.
func ZoneFault(w *state.State, zone string) *worldfile.ZoneFault {
	for i := range w.File.EC2.ZoneFaults {
		f := &w.File.EC2.ZoneFaults[i]
		from := w.Start.Add(f.From)
		if f.Zone == zone && !w.Now.Before(from) && (f.For == 0 || w.Now.Before(from.Add(f.For))) {
			return f
		}
	}
	return nil
}

// Offers tells that a zone has a type at all.
func Offers(w *state.State, zone, instanceType string) bool {
	return !slices.Contains(w.File.EC2.NotOffered[zone], instanceType)
}

// offering are the zones of the world's subnets that have a type.
func offering(w *state.State, instanceType string) []string {
	var list []string
	for _, s := range w.Subnets.All() {
		if zone := aws.ToString(s.AvailabilityZone); Offers(w, zone, instanceType) && !slices.Contains(list, zone) {
			list = append(list, zone)
		}
	}
	slices.Sort(list)
	return list
}

// refusedByZone is why a zone takes no launch, nil where it does. The words of the
// first are EC2's (aws-parallelcluster issue 2204 and re:Post "instance type is not
// supported in your requested Availability Zone").
func refusedByZone(w *state.State, zone, instanceType string) error {
	if !Offers(w, zone, instanceType) {
		return wire.Errorf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s). Please retry your request by not specifying an Availability Zone or choosing %s.",
			instanceType, zone, strings.Join(offering(w, instanceType), ", "))
	}
	f := ZoneFault(w, zone)
	if f == nil || f.Launches == "" {
		return nil
	}
	if f.Launches == "InsufficientInstanceCapacity" {
		return wire.Errorf(f.Launches, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity.", instanceType, zone)
	}
	return wire.Errorf(f.Launches, "Your requested launch in the Availability Zone %s cannot be fulfilled at the moment.", zone)
}
