package command

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"rollcall/local/result"
)

// command runs a command line.
func command(args []string, out, errs io.Writer) int {
	return commandOn(strings.NewReader(""), args, out, errs)
}

func commandOn(in io.Reader, args []string, out, errs io.Writer) int {
	root := &cobra.Command{Use: "rollcall", Long: "rollcall"}
	root.AddCommand(Commands()...)
	root.SetIn(in)
	return Run(context.Background(), root, args, out, errs)
}

// first is the first incident as cause and confidence, or "".
func first(r result.Result) string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Cause + " " + r.Incidents[0].Confidence
}

func TestWords(t *testing.T) {
	var out, errs bytes.Buffer
	command([]string{"diagnose", "../worlds/corpus/route-no-egress.yaml"}, &out, &errs)
	for _, want := range []string{
		"FAULT eks-workshop / new_nodegroup_2 · ", "route/no-egress (certain)", "aws ec2 create-route --region us-west-2", "Explains  node/not-registered",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("prints\n%s\nwant %q in it\n%s", out.String(), want, errs.String())
		}
	}
}

func TestHelpAndMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"help":               {[]string{"diagnose", "--help"}, 0, "Exit status"},
		"no command":         {nil, 0, "Available Commands"},
		"another command":    {[]string{"diagnos"}, 64, ""},
		"nothing":            {[]string{"diagnose"}, 64, ""},
		"two":                {[]string{"diagnose", "a", "b"}, 64, ""},
		"an empty message":   {[]string{"explain", " "}, 64, ""},
		"kubelet's word":     {[]string{"explain", "kubelet: Unauthorized"}, 0, "iam/access-missing"},
		"unknown message":    {[]string{"explain", "The moon is in the wrong house."}, 2, "launch/unclassified"},
		"a symptom's places": {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, "instance/console-error\n  a service of AWS that nodes need: an answer did not come"},
		"in their order":     {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, "\n  It is how a fault shows. Look for what is behind it, in this order: endpoint/missing, route/no-egress, "},
		"what failed":        {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, ": the EC2 API did not answer in time."},
		"a symptom as JSON":  {[]string{"explain", "--json", "NodeNotReady"}, 0, "\"symptom\": true,\n  \"look\": [\n    \"node/cni-not-ready\""},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := command(tt.args, &out, &errs); status != tt.status || !strings.Contains(out.String(), tt.says) {
				t.Errorf("status %d, want %d; prints %q, %q", status, tt.status, out.String(), errs.String())
			}
		})
	}
}
