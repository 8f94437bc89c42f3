package text

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
)

// However a text is quoted, wrapped, escaped, cut or mixed with others, it
// tells the same.
func TestFormDoesNotMatter(t *testing.T) {
	quote := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	forms := map[string]func(string) string{
		"quoted in a reply": func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
		"in Terraform's box": func(s string) string {
			return "╷\n│ Error: " + strings.ReplaceAll(s, "\n", "\n│ ") + "\n│ \n╵"
		},
		"a string of JSON":     quote,
		"a string in a string": func(s string) string { return quote(quote(s)) },
		"a field of JSON":      func(s string) string { return `{"level":"error","ts":1.5,"msg":` + quote(s) + `}` },
		"deep in JSON":         func(s string) string { return `{"detail":{"items":[{"n":1},{"errorMessage":` + quote(s) + `}]}}` },
		"curly quotes":         func(s string) string { return strings.NewReplacer("'", "’", `"`, "”").Replace(s) },
		"Markdown":             func(s string) string { return "```\n" + s + "\n```" },
		"HTML":                 func(s string) string { return strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s) },
		"coloured":             func(s string) string { return "\x1b[31m" + s + "\x1b[0m" },
		"invalid UTF-8":        func(s string) string { return "\xff\xfe" + s + "\x80" },
		"Windows lines":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"non-breaking blanks":  func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") },
		"with a syslog stamp":  func(s string) string { return "Nov 22 10:00:00 ip-10-0-0-1 " + s },
		"among other lines": func(s string) string {
			return strings.Repeat("2026-11-22T10:00:00Z all is well\n", 20) + s + "\n2026-11-22T10:00:01Z all is well still\n"
		},
	}
	texts := []string{
		`kubelet[1]: E1120 15:00:01.123456 1800 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized"`,
		`operation error EC2: CreateNetworkInterface, https response error StatusCode: 403, api error UnauthorizedOperation: You are not authorized to perform this operation.`,
		`Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit of 0 allows. Launching EC2 instance failed.`,
		`failed to resolve reference "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10": unexpected status: 401 Unauthorized`,
		`nodeadm: Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 10.0.3.4:443: i/o timeout`,
		`container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized`,
		`karpenter SubnetsReady False SubnetsNotFound SubnetSelector did not match any Subnets`,
	}
	for _, text := range texts {
		want := Tell(text)
		if want.Check == "" {
			t.Fatalf("%q tells nothing", text)
		}
		for name, form := range forms {
			if got := Tell(form(text)); got.Check != want.Check {
				t.Errorf("%s: %q tells %q, want %q", name, form(text), got.Check, want.Check)
			}
		}
		// A sentence may be wrapped anywhere between words.
		if got := Tell(strings.ReplaceAll(text, " ", "\n  ")); got.Check != want.Check {
			t.Errorf("wrapped: %q tells %q, want %q", text, got.Check, want.Check)
		}
	}
}

// The cause is told and not what follows from it, in whichever order they come.
func TestOrderDoesNotMatter(t *testing.T) {
	lines := []string{
		`Nov 22 10:00:03 ip-10-0-0-1 kubelet[1]: E1122 10:00:03.1 1 kubelet.go:2272] node "ip-10-0-0-1.ec2.internal" not found`,
		`Nov 22 10:00:04 ip-10-0-0-1 kubelet[1]: E1122 10:00:04.1 1 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized"`,
		`Nov 22 10:00:05 ip-10-0-0-1 kubelet[1]: E1122 10:00:05.1 1 kubelet.go:2195] Container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady`,
	}
	for range lines {
		lines = append(lines[1:], lines[0])
		if got := Tell(strings.Join(lines, "\n")); got.Check != "iam/access-missing" {
			t.Errorf("%q tells %q, want iam/access-missing", lines, got.Check)
		}
	}
}

// What a text of somebody else says is no fault of a node.
func TestOthersTellNothing(t *testing.T) {
	for _, text := range []string{
		"An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
		"An error occurred (UnauthorizedOperation) when calling the DisassociateAddress operation: You are not authorized to perform this operation.",
		"Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout",
		"error: You must be logged in to the server (Unauthorized)",
		"User: arn:aws:iam::111122223333:user/dev is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/prod",
		`Readiness probe failed: Get "http://10.0.1.2:8080/healthz": dial tcp 10.0.1.2:8080: connect: connection refused`,
		`kubelet Successfully pulled image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5" in 1.2s`,
		`nodes is forbidden: User "arn:aws:sts::1:assumed-role/AWSReservedSSO_Dev/alice" cannot list resource "nodes" in API group "" at the cluster scope`,
		`Node ip-10-0-0-1 status is now: NodeHasNoDiskPressure`, "[FAILED] Failed to start Postfix Mail Transport Agent.",
		`error: rpc error: code = Unknown desc = AccessDenied: Access denied`, "psycopg2.OperationalError: connection to server failed: Connection refused",
		"The moon is in the wrong house.", "it works now, thanks", "timeout", "403", "",
		"Cloud-init v. 22.2.2 finished at Wed, 10 Sep 2025 12:53:14 +0000. Datasource DataSourceEc2.",
		`kubelet_node_status.go:76] "Successfully registered node" node="ip-10-0-0-1.ec2.internal"`,
		`I1122 10:00:00.1 1 kubelet_node_status.go:73] "Attempting to register node" node="ip-10-0-0-1.ec2.internal"`,
	} {
		if got := Tell(text); got.Check != "" || got.Next == "" && text != "" {
			t.Errorf("%q tells %+v, want nothing and what to send", text, got)
		}
	}
}

// A time-out tells that a path does not work, not which; and the list begins
// with what fits the address.
func TestTimeOutsNameNoPath(t *testing.T) {
	for text, first := range map[string]checkid.ID{
		`Unable to register node with API server" err="Post \"https://ABCD.gr7.eu-west-1.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.50.14.7:443: i/o timeout"`: "sg/cluster-ingress",
		`Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`:                                                                         "endpoint/missing",
		`Head "https://registry-1.docker.io/v2/": dial tcp 3.1.2.3:443: i/o timeout`:                                                                              "route/no-egress",
		`dial tcp: lookup ABCD.gr7.eu-west-1.eks.amazonaws.com on 10.0.0.2:53: read udp 10.0.1.3:4711->10.0.0.2:53: i/o timeout`:                                  "dns/support-off",
		`dial tcp 10.1.2.3:443: i/o timeout`: "endpoint/missing",
	} {
		if got := Tell(text); got.Check != "instance/console-error" || !got.Symptom || len(got.Look) < 3 || got.Look[0] != first {
			t.Errorf("%q tells %s, symptom %t, look %q; want instance/console-error and %s first", text, got.Check, got.Symptom, got.Look, first)
		}
	}
}

// What is told holds nothing of the text but calls that are known.
func TestNothingOfTheTextIsRepeated(t *testing.T) {
	const secret = "hunter2SuperSecretValue"
	for _, s := range append(read(t, "known.json"), read(t, "heldout.json")...) {
		got := Tell(strings.ReplaceAll(s.Text, " ", " "+secret+" "))
		for _, part := range []string{got.Kind, got.Failed, string(got.Check), got.Meaning, got.Next} {
			if strings.Contains(part, secret) {
				t.Errorf("%q is repeated in %q", secret, part)
			}
		}
	}
}

// The ids that are told are those of checks, and everything told has words.
func TestRowsAreWhole(t *testing.T) {
	known := map[checkid.ID]bool{}
	for _, c := range checks.All() {
		known[c.ID] = true
	}
	for _, part := range [][]checkid.ID{pathAnywhere(), nameLookup(), notJoining(), notReady(), network(), launches()} {
		for _, id := range part {
			if !known[id] {
				t.Errorf("%s is no check", id)
			}
		}
	}
	for i, r := range rows() {
		told := r.told()
		if told.Meaning == "" || told.Next == "" {
			t.Errorf("row %d (%s) has no words: %+v", i, r.check, told)
		}
		if strings.HasSuffix(told.Meaning, ".") || !strings.HasSuffix(told.Next, ".") {
			t.Errorf("row %d (%s): the meaning is half a sentence, the next step a whole one: %+v", i, r.check, told)
		}
		if r.check != "" && !known[r.check] {
			t.Errorf("row %d: %s is no check", i, r.check)
		}
		if r.symptom && len(r.look) == 0 {
			t.Errorf("row %d (%s) is a symptom and does not say where to look", i, r.check)
		}
		for _, id := range r.look {
			if !known[id] {
				t.Errorf("row %d (%s): %s is no check", i, r.check, id)
			}
		}
		for _, phrase := range slices.Concat(append(slices.Clone(r.all), r.none)...) {
			if phrase != strings.ToLower(phrase) || strings.ContainsAny(phrase, "'\"`*\\") {
				t.Errorf("row %d (%s): no text has %q once it is unwrapped", i, r.check, phrase)
			}
		}
		if len(r.all)+len(r.codes)+len(r.fails)+len(r.calls)+len(r.on)+len(r.only) == 0 {
			t.Errorf("row %d (%s) fits every text", i, r.check)
		}
	}
}

// Every code that a launch can meet has a row: those of EC2's list of error
// codes (API reference, "Error codes"; its model has none), of EKS and of Auto
// Scaling.
func TestEveryCodeOfALaunchHasARow(t *testing.T) {
	raw, err := os.ReadFile("testdata/codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		count++
		call, code, _ := strings.Cut(line, " ")
		got := Tell("An error occurred (" + code + ") when calling the " + call + " operation: some words.")
		if got.Meaning == unknown(facts{}).Meaning {
			t.Errorf("%s of %s has no row", code, call)
		}
	}
	if count < 150 {
		t.Errorf("%d codes: the list is not whole", count)
	}
}

func TestCauseOfKarpenter(t *testing.T) {
	for line, want := range map[string]checkid.ID{
		"creating fleet, operation error EC2: CreateFleet, api error UnauthorizedOperation: no, with an explicit deny in a service control policy": checkid.LaunchPolicyDenied,
		"NodeClaim gpu-a: Node not registered with cluster": "", // how it shows
		"found provisionable pods":                          "",
	} {
		if got := CauseOfKarpenter(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A zonal shift is no fault of the NodePool; one that is over is no fault at all
// (aws/karpenter-provider-aws, pkg/cloudprovider/events).
func TestZonalShift(t *testing.T) {
	for text, want := range map[string]checkid.ID{
		"Warning ZonalShiftActive nodepool/default Zonal shift detected: offerings in zone us-west-2c (usw2-az3) are unavailable for this NodePool": checkid.ZoneShifted,
		"Zonal shift detected: offerings in zone us-west-2c (usw2-az3) are unavailable for this NodePool":                                           checkid.ZoneShifted,
		"Normal ZonalShiftCleared nodepool/default Zonal shift cleared: offerings in zone us-west-2c (usw2-az3) are restored for this NodePool":     "",
	} {
		if got := Tell(text).Check; got != want {
			t.Errorf("%q tells %q, want %q", text, got, want)
		}
	}
}
