package lifecycle

import (
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

// refusedByZone is why a zone takes no launch, nil where it does.
func refusedByZone(w *state.State, zone, instanceType string) error {
	f := ZoneFault(w, zone)
	if f == nil || f.Launches == "" {
		return nil
	}
	if f.Launches == "InsufficientInstanceCapacity" {
		return wire.Errorf(f.Launches, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity.", instanceType, zone)
	}
	return wire.Errorf(f.Launches, "Your requested launch in the Availability Zone %s cannot be fulfilled at the moment.", zone)
}
