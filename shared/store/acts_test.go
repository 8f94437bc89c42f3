package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

func TestActsAreNeverWrittenOver(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 4, 5, 600e6, time.UTC)
	s := open(t, &at)
	key := report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2"}
	refused := incident.ActRecord{ID: "a", At: at, Decided: at, Key: key, Action: report.ApprovePlan, User: report.User{ID: "U0STRANGER"}, Answer: incident.Answer{Reason: incident.NotAllowed}}
	if created, err := s.RecordAct(t.Context(), refused); !created || err != nil {
		t.Fatalf("created %v, %v", created, err)
	}
	forged := refused
	forged.Answer.Reason = incident.AnswerApproved
	if created, err := s.RecordAct(t.Context(), forged); created || err != nil {
		t.Errorf("written over: %v, %v", created, err)
	}
	later := refused
	later.ID, later.At = "b", at.Add(time.Second)
	elsewhere := refused
	elsewhere.Key.Cluster = "dev"
	for _, a := range []incident.ActRecord{later, elsewhere} {
		if _, err := s.RecordAct(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	refused.Format, refused.Audited = incident.RecordFormat, true
	later.Format, later.Audited = incident.RecordFormat, true
	for _, test := range []struct {
		since time.Time
		want  []incident.ActRecord
	}{
		{at, []incident.ActRecord{refused, later}},
		{at.Add(time.Millisecond), []incident.ActRecord{later}},
		{at.Add(time.Hour), nil},
	} {
		got, err := s.Acts(t.Context(), "prod", test.since)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("since %s (-want +got):\n%s", test.since, diff)
		}
	}
}
