package iam

import (
	"fmt"
	"slices"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/shell"
)

// createAccessEntry is the remedy (package remedy) that makes one.
const createAccessEntry = "create-access-entry"

// where names the places in which the cluster looks a role up.
func (a access) where(s *facts.View) string {
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

// entryKind is the type that an access entry for the role group must have.
func entryKind(c facts.RoleGroup, s *facts.View) string {
	some := slices.Concat(c.Suspects, c.Well)
	switch {
	case len(some) > 0 && some[0].Windows:
		return "EC2_WINDOWS"
	case isAuto(c, s):
		return "EC2"
	}
	return "EC2_LINUX"
}

// admit is the fix that lets a role's nodes in, by what the cluster looks at.
func admit(c facts.RoleGroup, s *facts.View, a access) finding.Fix {
	fix := finding.Fix{Console: link.Access(s)}
	if a.byEntry {
		fix.Text = "Make an access entry for the role. The nodes that wait join by themselves."
		fix.Command = create(c, s)
		fix.Remedy = createAccessEntry
		return fix
	}
	fix.Text = fmt.Sprintf("Map %s in mapRoles of kube-system/aws-auth. The nodes that wait join by themselves.", awsauth.Canonical(c.Role))
	fix.Command = shell.Command("eksctl", "create", "iamidentitymapping", "--region", s.Region, "--cluster", s.Cluster.Name,
		"--arn", awsauth.Canonical(c.Role), "--username", "system:node:{{EC2PrivateDNSName}}", "--group", "system:bootstrappers", "--group", "system:nodes")
	return fix
}

func create(c facts.RoleGroup, s *facts.View) string {
	if entryKind(c, s) == "EC2" {
		return command.Several(createAuto(s, c.Role))
	}
	return command.AWS(s, "eks create-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", c.Role, "--type", entryKind(c, s))
}

// modeEvidence is the authentication mode.
func modeEvidence(s *facts.View) finding.Evidence {
	value := s.Cluster.AuthMode
	if value == "" {
		value = "CONFIG_MAP (EKS names none)"
	}
	return finding.Evidence{What: "Authentication mode of " + s.Cluster.Name, Value: value}
}
