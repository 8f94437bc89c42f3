package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/shell"
)

// createAccessEntry is the remedy (package remedy) that makes one.
const createAccessEntry = "create-access-entry"

// where names the places in which the cluster looks a role up.
func (a access) where(s *View) string {
	switch {
	case a.byEntry && a.byMap:
		return "neither an access entry nor a mapping in aws-auth"
	case a.byEntry:
		return "no access entry"
	case s.AWSAuth == nil:
		return "no mapping: there is no ConfigMap kube-system/aws-auth"
	}
	return "no mapping in kube-system/aws-auth"
}

// entryKind is the type that an access entry for the crew must have.
func (c crew) entryKind(s *View) string {
	some := slices.Concat(c.suspects, c.well)
	switch {
	case len(some) > 0 && some[0].Windows:
		return "EC2_WINDOWS"
	case c.auto(s):
		return "EC2"
	}
	return "EC2_LINUX"
}

// admit is the fix that lets a role's nodes in, by what the cluster looks at.
func (c crew) admit(s *View, a access) Fix {
	fix := Fix{Console: accessLink(s)}
	if a.byEntry {
		fix.Text = "Make an access entry for the role. The nodes that wait join by themselves."
		fix.Command = c.create(s)
		fix.Remedy = createAccessEntry
		return fix
	}
	fix.Text = fmt.Sprintf("Map %s in mapRoles of kube-system/aws-auth. The nodes that wait join by themselves.", awsauth.Canonical(c.role))
	fix.Command = shell.Command("eksctl", "create", "iamidentitymapping", "--region", s.Region, "--cluster", s.Cluster.Name,
		"--arn", awsauth.Canonical(c.role), "--username", "system:node:{{EC2PrivateDNSName}}", "--group", "system:bootstrappers", "--group", "system:nodes")
	return fix
}

func (c crew) create(s *View) string {
	return aws(s, "eks create-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", c.role, "--type", c.entryKind(s))
}

// modeEvidence is the authentication mode.
func modeEvidence(s *View) Evidence {
	value := s.Cluster.AuthMode
	if value == "" {
		value = "CONFIG_MAP (EKS names none)"
	}
	return Evidence{What: "Authentication mode of " + s.Cluster.Name, Value: value}
}
