package slack

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// The message says that the cluster was deleted, or that nobody knows.
func TestClosedWithoutACure(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		ending     incident.Resolution
		line, note string
	}{
		{incident.ClusterDeleted, "closed, cluster prod was deleted", "EKS has no cluster prod any more"},
		{incident.Unseen, "closed, not checked since 20 November, may still fail", "nothing was heard of it since 20 November"},
	} {
		inc := incident.Incident{
			Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Number: 1, State: incident.Closed, Resolution: test.ending,
			Began: at, Opened: at, Seen: at, Resolved: at.Add(time.Hour),
		}
		inc.Cause.Title = "subnet-1 has no route to the internet"
		if got := Render(inc, Options{Now: inc.Resolved}).Text; !strings.Contains(got, test.line) {
			t.Errorf("the message is %q, want %q in it", got, test.line)
		}
		n := incident.Note{ID: "withdrawn", Reason: incident.IsWithdrawn, At: inc.Resolved}
		if got := RenderNote(inc, n).Text; !strings.Contains(got, test.note) {
			t.Errorf("the note is %q, want %q in it", got, test.note)
		}
	}
	all := incident.Incident{Key: report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: "eks:ListClusters"}, Number: 1, State: incident.Open, Began: at, Opened: at, Seen: at}
	all.Cause.Title = "cannot look at the clusters: eks:ListClusters is denied"
	if got := Render(all, Options{Now: at}).Text; !strings.Contains(got, "all clusters") || !strings.Contains(got, "eks:ListClusters") || strings.Contains(got, report.AllClusters) {
		t.Errorf("the message is %q", got)
	}
	for resource, want := range map[string]string{"eks:ListClusters": "eks:ListClusters works again", report.AssumeRole: "the role there lets Rollcall in again", report.KubernetesAPI: "its Kubernetes API answers again"} {
		over := all
		over.Whose = "payments"
		over.Key.Resource, over.State, over.Resolution, over.Resolved = resource, incident.Closed, incident.Proved, at.Add(15*time.Minute)
		if got := Render(over, Options{Now: over.Resolved}).Text; !strings.Contains(got, "all clusters (payments) · "+want+" after 15 min") {
			t.Errorf("taken back, the message is %q", got)
		}
		if got := RenderNote(over, incident.Note{ID: "proved", Reason: incident.IsProved, At: over.Resolved}).Text; !strings.Contains(got, want+". The checks") {
			t.Errorf("taken back, the reply is %q", got)
		}
	}
}
