package event

// schedule takes the events of EventBridge rules (detail is {}) and of
// EventBridge Scheduler (detail is the string "{}"): neither says more than
// that it is time.
func schedule(t *Trigger) {
	if t.Type == "Scheduled Event" {
		t.Kind = Sweep
		return
	}
	foreign(t, "not a schedule")
}
