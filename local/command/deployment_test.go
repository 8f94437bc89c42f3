package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/config"
	ranked "rollcall/shared/diagnose"
	record "rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// The commands that are about a deployment find it by the caller's profile, and say
// with their status how it stands.
func TestDeploymentCommands(t *testing.T) {
	s, _ := callertest.Serve(t, "../worlds/healthy-nat.yaml", diagnose.Settled)
	callertest.LogIn(t, s)
	run := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = command(args, &o, &e)
		return status, o.String(), e.String()
	}
	status, out, errs := run("doctor")
	if status != exit.Healthy || errs != "" || !strings.Contains(out, "✓ rule: 26 are well\n") || !strings.Contains(out, "✓ cluster eks-workshop lets in who reads in it\n") {
		t.Errorf("doctor: status %d, %s%s", status, out, errs)
	}
	secret, ok := s.SecretFor(config.SlackSecretARN)
	if !ok {
		t.Fatal("there is no secret")
	}
	s.Cloud.SetSecret(secret.Name, "")
	status, out, _ = run("doctor")
	if status != exit.Causes || !strings.HasPrefix(out, "✗ Slack token ") || !strings.Contains(out, "\n    printf 'Slack bot token: ' && read -rs T") {
		t.Errorf("doctor without a token: status %d, %s", status, out)
	}
	var found struct{ Healthy, Whole bool }
	if _, out, _ = run("doctor", "--json"); json.Unmarshal([]byte(out), &found) != nil || found.Healthy || !found.Whole {
		t.Errorf("doctor --json: %s", out)
	}

	for _, more := range [][]string{nil, {"--cluster", "eks-workshop"}} {
		if status, out, errs = run(append([]string{"incidents"}, more...)...); status != exit.Healthy || out != "No incident is open.\n" {
			t.Errorf("no incidents %q: status %d, %s%s", more, status, out, errs)
		}
	}
	records := store.New(dynamodb.NewFromConfig(s.AsAdmin()), s.Template.Tables[0].Name)
	began := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for _, inc := range []record.Incident{
		{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: "rtb-1"}, State: record.Open, Began: began, Cause: ranked.Cause{Title: "no route", Confidence: checks.Certain}},
		{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: "rtb-2"}, State: record.Closed, Began: began, Resolved: time.Now(), Cause: ranked.Cause{Title: "no route either"}},
	} {
		if _, err := records.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"incidents", "--cluster", "eks-workshop"}, exit.Causes, "no route  eks-workshop:route/no-egress:rtb-1\n"},
		{[]string{"incidents", "--cluster", "eks-workshop", "--all", "--json"}, exit.Causes, `"id": "eks-workshop:route/no-egress:rtb-2"`},
		{[]string{"show", "eks-workshop:route/no-egress:rtb-1"}, exit.Causes, "OPEN eks-workshop · no route\n"},
		{[]string{"show", "eks-workshop:route/no-egress:rtb-2"}, exit.Healthy, "CLOSED eks-workshop · no route either\n"},
		{[]string{"show", "--json", "eks-workshop:route/no-egress:rtb-1"}, exit.Causes, `"state": "open"`},
	} {
		if status, out, errs = run(tt.args...); status != tt.status || !strings.Contains(out, tt.says) || errs != "" {
			t.Errorf("%q: status %d, %q, errors %q; want %d, %q", tt.args, status, out, errs, tt.status, tt.says)
		}
	}
	if status, out, errs = run("show", "eks-workshop:route/no-egress:rtb-3"); status != exit.BadInput || out != "" || !strings.HasSuffix(errs, "there is no such incident; rollcall incidents --all lists them\n") {
		t.Errorf("show of none: status %d, %q, %q", status, out, errs)
	}

	// What is over is found without its cluster's name, also where nothing is open any more and
	// EKS lists the cluster no longer.
	gone := record.Incident{Key: report.Key{Cluster: "gone", Check: checkid.RouteNoEgress, Resource: "rtb-9"}, State: record.Closed, Began: began, Resolved: time.Now(), Cause: ranked.Cause{Title: "no route then"}}
	if _, err := records.SaveIncident(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for range 2 { // opened, then closed
		r, err := records.ClusterRecord(t.Context(), "gone")
		if err != nil {
			t.Fatal(err)
		}
		r.Follow(r.Version == 0, false, time.Now())
		if err := records.SaveClusterRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args         []string
		status       int
		says, errors string
	}{
		{[]string{"incidents"}, exit.Healthy, "No incident is open.\n", ""},
		{[]string{"incidents", "--all"}, exit.Healthy, "no route then  gone:route/no-egress:rtb-9\n", ""},
		{[]string{"incidents", "--all", "--cluster", "gone"}, exit.Healthy, "no route then  gone:route/no-egress:rtb-9\n", ""},
		{[]string{"show", "rtb-9"}, exit.Healthy, "CLOSED gone · no route then\n", ""},
		{[]string{"replay", "rtb-9"}, exit.Unsure, "", "nothing was kept of this incident"},
	} {
		if status, out, errs = run(tt.args...); status != tt.status || !strings.Contains(out, tt.says) || !strings.Contains(errs, tt.errors) {
			t.Errorf("%q: status %d, %q, errors %q; want %d, %q, %q", tt.args, status, out, errs, tt.status, tt.says, tt.errors)
		}
	}

	// That nothing is open in a cluster that nobody watches says nothing.
	if status, out, errs = run("incidents", "--cluster", "eks-workshop,eks-workshp"); status != exit.BadInput || out != "" || errs != "rollcall: the deployment knows no cluster eks-workshp; is it eks-workshop?\n" {
		t.Errorf("incidents of a stranger: status %d, %q, %q", status, out, errs)
	}

	// What a newer release wrote may be an open incident.
	if _, err := records.SaveIncident(t.Context(), record.Incident{Key: report.Key{Cluster: "newer", Check: checkid.RouteNoEgress, Resource: "rtb-1"}, State: record.Open, Format: report.Format + 1}); err != nil {
		t.Fatal(err)
	}
	if status, _, errs = run("incidents", "--cluster", "newer"); status != exit.Unsure || !strings.HasPrefix(errs, "note: some are of a newer release than this command's, and are left out: ") {
		t.Errorf("incidents of a newer release: status %d, %q", status, errs)
	}

	for _, f := range s.Template.Functions {
		s.Deployment.Delete(f.ARN)
	}
	if status, out, errs = run("incidents"); status != exit.BadInput || out != "" || !strings.Contains(errs, "there is no deployment of Rollcall in us-west-2 of account 111122223333: --region and --profile choose another") {
		t.Errorf("incidents without a deployment: status %d, %q, %q", status, out, errs)
	}
	if status, out, _ = run("doctor"); status != exit.Causes || !strings.Contains(out, "Rollcall is not deployed in this account and region") {
		t.Errorf("doctor without a deployment: status %d, %q", status, out)
	}
}

// Without a terminal a profile with an MFA device is one sentence, whatever the command.
func TestProfileWithMFA(t *testing.T) {
	callertest.Profiles(t, "[default]\naws_access_key_id = A\naws_secret_access_key = S\n[profile mfa]\nregion = us-west-2\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\nmfa_serial = arn:aws:iam::111122223333:mfa/you\n")
	for _, args := range [][]string{{"doctor"}, {"incidents"}, {"show", "x"}, {"replay", "x"}, {"diagnose", "--cluster", "prod"}, {"capture", "--cluster", "prod"}} {
		var out, errs bytes.Buffer
		if status := command(append(args, "--profile", "mfa"), &out, &errs); status != exit.BadInput || !strings.Contains(errs.String(), "the profile asks for a code of the MFA device arn:aws:iam::111122223333:mfa/you, and there is no terminal to ask for it") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, errs.String())
		}
	}
}

// What was mistyped is one line, before anybody is asked anything.
func TestDeploymentCommandsMistyped(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"doctor", "prod"}, "rollcall: rollcall doctor takes no arguments: \"prod\" is one too many\n"},
		{[]string{"incidents", "prod"}, "rollcall: rollcall incidents takes no arguments: \"prod\" is one too many\n"},
		{[]string{"show"}, "rollcall: which incident? rollcall incidents lists them; rollcall show --help tells more\n"},
		{[]string{"show", "a", "b"}, "rollcall: which incident? rollcall incidents lists them; rollcall show --help tells more\n"},
	} {
		var out, errs bytes.Buffer
		if status := command(tt.args, &out, &errs); status != exit.BadInput || errs.String() != tt.says || out.Len() > 0 {
			t.Errorf("%q: status %d, %q", tt.args, status, errs.String())
		}
	}
}
