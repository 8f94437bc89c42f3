package reconcile

import (
	"strings"
	"testing"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// TestCommandsNameTheirCluster: a command to paste has the cluster's own name, quoted where
// a shell would take it for something else, and of a spoke its account and region.
func TestCommandsNameTheirCluster(t *testing.T) {
	payments := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for _, x := range []struct {
		code    string
		call    string
		cluster spoke.Cluster
		want    string
	}{
		{snapshot.RelayUnnamed, "lambda:InvokeFunction", spoke.Cluster{Name: "prod"}, "`SET=relays=prod`"},
		{snapshot.NoRelay, "kubernetes: list nodes", spoke.Cluster{Name: "prod"}, "`make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region`"},
		{snapshot.NoRelay, "kubernetes: list nodes", spoke.Cluster{ID: payments, Name: "prod-2"}, "`make deploy-relay CLUSTER=prod-2 BUCKET=a-bucket-of-this-region`"},
		{snapshot.RelayRefuses, "kubernetes: list nodes", spoke.Cluster{Name: "prod"}, "`make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region`"},
		{snapshot.RelayRefuses, "kubernetes: list nodes", spoke.Cluster{Name: "a b;c"}, "'CLUSTER=a b;c'"},
		{report.NoCleaner, deletes, spoke.Cluster{ID: payments, Name: "prod"}, "SPOKE=222233334444/eu-west-1 "},
	} {
		o := report.Observation{Format: report.Format, Cluster: x.cluster.Name, Blind: []snapshot.Failure{{Call: x.call, Code: x.code, Source: snapshot.Nodes, Reason: snapshot.Denied}}}
		causes := blindCauses(*report.Message{Observation: &o}.In(x.cluster.ID, "").Observation)
		if len(causes) != 1 || !strings.Contains(causes[0].Fix.Text, x.want) || strings.Contains(causes[0].Fix.Text, "CLUSTER=…") {
			t.Errorf("%s of %s: %+v, want %s", x.code, x.cluster, causes, x.want)
		}
	}
}
