package incident_test

import (
	"testing"

	"rollcall/shared/incident"
)

// What each reason does: what the bus is told, whether the thread gets a reply,
// and whether a mute drops that.
func TestWhatEachReasonDoes(t *testing.T) {
	type does struct {
		bus            incident.EventKind
		noted, dropped bool
	}
	const (
		nothing  = incident.EventKind("")
		changed  = incident.EventChanged
		resolved = incident.EventResolved
	)
	for reason, want := range map[incident.Reason]does{
		incident.Opened:       {incident.EventOpened, true, true},
		incident.Reopened:     {incident.EventReopened, true, true},
		incident.FailedAgain:  {changed, true, true},
		incident.IsProved:     {resolved, true, false},
		incident.IsUnproved:   {resolved, true, false},
		incident.IsSuperseded: {resolved, true, false},
		incident.IsWithdrawn:  {resolved, true, false},
		incident.IsGivenUpOn:  {resolved, true, false},
		incident.CauseGone:    {changed, true, true},
		incident.HasMissed:    {changed, true, true},
		incident.MoreAffected: {changed, false, false},
		incident.BetterKnown:  {changed, false, false},
		incident.HasJoined:    {nothing, false, true}, // attached by hand

		incident.IsProposed:   {nothing, true, true},
		incident.IsApproved:   {incident.EventApproved, true, false},
		incident.IsRefused:    {nothing, true, false},
		incident.RemedyDone:   {incident.EventActed, true, false},
		incident.RemedyFailed: {incident.EventActed, true, false},
		incident.IsVerified:   {changed, true, false},
		incident.IsUnhelpful:  {changed, true, false},
		incident.IsDeferred:   {nothing, true, true},
		incident.HasChanges:   {nothing, true, true},
		incident.IsTakenOver:  {incident.EventAcknowledged, true, false},
		incident.IsCalled:     {nothing, true, true},
		incident.IsReminded:   {nothing, true, true},

		incident.IsAcknowledged: {incident.EventAcknowledged, false, false},
		incident.IsMuted:        {nothing, false, false},
		incident.IsUnmuted:      {nothing, false, false},
		incident.IsOutdated:     {nothing, false, false},
		incident.IsExpired:      {nothing, false, false},
		incident.IsAsked:        {incident.EventCheckWanted, false, false},
		incident.IsCalmed:       {nothing, false, false},
		incident.IsRenewed:      {nothing, false, false},
		incident.IsDue:          {changed, false, false},

		incident.PressRefused:   {nothing, false, false},
		incident.IsMalformed:    {nothing, false, false},
		incident.NothingNew:     {nothing, false, false},
		incident.NotYet:         {nothing, false, false},
		incident.OutOfDate:      {nothing, false, false},
		incident.AlreadyApplied: {nothing, false, false},
	} {
		if got := (does{reason.Event(), reason.Noted(), reason.DroppedByMute()}); got != want {
			t.Errorf("%s: %+v, want %+v", reason, got, want)
		}
	}
	for how, want := range map[incident.Resolution]incident.Reason{
		incident.Proved: incident.IsProved, incident.Unproved: incident.IsUnproved, incident.Superseded: incident.IsSuperseded, incident.GivenUpOn: incident.IsGivenUpOn,
		incident.Withdrawn: incident.IsWithdrawn, incident.ClusterDeleted: incident.IsWithdrawn, incident.Unseen: incident.IsWithdrawn,
	} {
		if got := how.Reason(); got != want {
			t.Errorf("the end %s is said as %s, want %s", how, got, want)
		}
	}
	for kind, want := range map[incident.EventKind]string{
		incident.EventOpened: "Rollcall Incident Opened", incident.EventReopened: "Rollcall Incident Reopened", incident.EventChanged: "Rollcall Incident Changed",
		incident.EventResolved: "Rollcall Incident Resolved", incident.EventApproved: "Rollcall Remedy Approved", incident.EventCheckWanted: "Rollcall Check Wanted",
	} {
		if got := kind.DetailType(); got != want {
			t.Errorf("%s is %q on the bus, want %q", kind, got, want)
		}
	}
}

func TestWhichAnswersDidSomething(t *testing.T) {
	for _, done := range []incident.AnswerReason{
		incident.AnswerApproved, incident.AnswerRefused, incident.AnswerAcknowledged, incident.AnswerTakenOver, incident.AnswerMuted, incident.AnswerUnmuted, incident.AnswerChecking,
	} {
		if a := (incident.Answer{Reason: done}); !a.Done() || !a.Proven() {
			t.Errorf("%s: done %t, proven %t", done, a.Done(), a.Proven())
		}
	}
	for _, not := range []incident.AnswerReason{incident.NotAllowed, incident.PlanExpired, incident.AlreadyTaken, ""} {
		if a := (incident.Answer{Reason: not}); a.Done() || !a.Proven() {
			t.Errorf("%s: done %t, proven %t", not, a.Done(), a.Proven())
		}
	}
	if a := (incident.Answer{Reason: incident.NotPassedOn}); a.Done() || a.Proven() {
		t.Error("what a function made up is told to the person whom it names")
	}
}
