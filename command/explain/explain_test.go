package explain

import (
	"bytes"
	"strings"
	"testing"
)

// What is known of a text is printed with its check first, and what is behind it.
func TestPoint(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		known bool
		says  string
	}{
		"the CNI's call":         {"Failed to call ec2:DescribeNetworkInterfaces for [eni-0b1c2d]: UnauthorizedOperation: You are not authorized to perform this operation.", true, "iam/cni-role-policies"},
		"a launch refused":       {"You are not authorized to perform this operation. Encoded authorization failure message: abc. Launching EC2 instance failed.", true, "launch/unauthorized"},
		"several lines":          {"[   14.1] systemd[1]: Started kubelet.service\n[   20.1] kubelet[1800]: E1120 15:00:01.123456    1800 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\"\n", true, "iam/access-missing"},
		"a health issue":         {"Nodegroup ng-eks-A failed to stabilize: [{Code: AccessDenied,Message: The aws-auth ConfigMap in your cluster is invalid }]", true, "nodegroup/health\n  the cluster's API rejects EKS or the nodes"},
		"a code alone":           {"Ec2LaunchTemplateVersionMismatch", true, "nodegroup/health\n  the group launches a different version"},
		"of an update":           {"error waiting for EKS Node Group (prod:workers) version update: unexpected state 'Failed', wanted target 'Successful'. last error: i-0123: IpNotAvailable: no address", true, "nodegroup/update-failed\n  a subnet has no free address"},
		"somebody else's":        {"An error occurred (AccessDenied) when calling the PutObject operation: Access Denied", false, "unknown"},
		"what it was read as":    {"kubelet: Unauthorized", true, "\n  Recognized as a message of the kubelet"},
		"as no more than a text": {"NodeNotReady", true, "\n  The text names a symptom.\n  Likely causes, in order: node/cni-not-ready, "},
		"which of them it is":    {"NodeNotReady", true, ".\n  Next: rollcall diagnose --cluster NAME finds which of them it is.\n"},
		"the resource":           {"kubelet: Unauthorized", true, "\n  Next: rollcall diagnose --cluster NAME finds the resource to fix.\n"},
		// The API server answered 403: the network is well, the access entry is not.
		"a node that may not register": {`"Unable to register node with API server" err="nodes is forbidden: User \"system:node:…\" cannot create resource \"nodes\""`, true, "iam/access-wrong-type\n"},
		"a name that is not known":     {"dial tcp: lookup api.example.com on 10.0.0.2:53: no such host", false, "a failed connection: the name api.example.com could not be resolved by the name server 10.0.0.2. "},
		"a secret":                     {"nothing known: password=hunter2 here", false, "\n  nothing known: password=… here"},
	} {
		p, known := Point(tt.text)
		var out bytes.Buffer
		p.Print(&out)
		if known != tt.known || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: known %t, %q; want %t, %q", name, known, out.String(), tt.known, tt.says)
		}
	}
}

// A log is read to its end, and no secret of it is printed.
func TestLog(t *testing.T) {
	quiet := strings.Repeat("Nov 20 15:03:11 ip-10-0-1-2 systemd[1]: Started Session 1 of User root.\n", 2000)
	last := "Nov 20 15:04:11 ip-10-0-1-2 kubelet[1]: E1120 15:04:11.123456 1 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" token=AKIAIOSFODNN7EXAMPLE\n"
	for name, tt := range map[string]struct {
		in   string
		told int
		says []string
	}{
		"a log that tells something": {quiet + last + last, 1, []string{"line 2001, and 1 like it: iam/access-missing\n", "Unable to register node", "\n2002 lines read.\n"}},
		"a log that tells nothing":   {quiet, 0, []string{"2000 lines read; nothing is known of any.\n"}},
		"noise":                      {strings.Repeat("\x00\xff", 1<<20), 0, []string{"1 lines read; nothing is known of any; 1 were too long, and only their begin was read.\n"}},
	} {
		l, err := ReadLog(strings.NewReader(tt.in))
		if err != nil || len(l.Told) != tt.told {
			t.Errorf("%s: %v, %d told, want %d", name, err, len(l.Told), tt.told)
		}
		var out bytes.Buffer
		l.Print(&out)
		for _, words := range tt.says {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%s: %q does not say %q", name, out.String(), words)
			}
		}
		if strings.Contains(out.String(), "AKIAIOSFODNN7EXAMPLE") {
			t.Errorf("%s: a key is printed", name)
		}
	}
}
