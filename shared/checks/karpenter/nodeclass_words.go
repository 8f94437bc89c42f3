package karpenter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// meaning is a reason in words.
type meaning struct {
	short string // ends a title
	next  string
}

// meanings are Karpenter's reasons (aws/karpenter-provider-aws v1.14.1,
// pkg/controllers/nodeclass/*.go).
func meanings(reason string) (meaning, bool) {
	m, ok := map[string]meaning{
		"SubnetsNotFound":                     {"finds no subnet", "Give the subnets the tags that the class selects by, or change its subnetSelectorTerms."},
		"SecurityGroupsNotFound":              {"finds no security group", "Give a security group the tags that the class selects by, or change its securityGroupSelectorTerms."},
		"AMINotFound":                         {"finds no AMI", "Change the amiSelectorTerms of the class: the alias, id, name or tags fit no image that this account may use."},
		"UnsupportedAlias":                    {"has an AMI alias that is not supported", "Change the alias in the amiSelectorTerms of the class."},
		"PlacementGroupNotFound":              {"finds no placement group", "Create the placement group, or remove it from the class."},
		"PlacementGroupResolutionFailed":      {"finds no placement group", "Check that Karpenter's role may call ec2:DescribePlacementGroups."},
		"CreateFleetAuthCheckFailed":          {"may not create fleets", "Allow Karpenter's role to call ec2:CreateFleet with the tags of the class, or find the policy that denies it."},
		"CreateLaunchTemplateAuthCheckFailed": {"may not create launch templates", "Allow Karpenter's role to call ec2:CreateLaunchTemplate with the tags of the class, or find the policy that denies it."},
		"RunInstancesAuthCheckFailed":         {"may not run instances", "Allow Karpenter's role to call ec2:RunInstances with the tags of the class, or find the policy that denies it."},
		"InstanceProfileNotFound":             {"has an instance profile that does not exist", "Create the instance profile, or name another one in the class."},
		"InstanceProfileCreationFailed":       {"has no instance profile", "Check that the role named in the class exists, and that it may be passed (iam:PassRole)."},
		"UnauthorizedNodeRole":                {"has a node role that the cluster does not admit", "Make an access entry of type EC2 for the role that the class names, with the policy AmazonEKSAutoNodePolicy. One of another type must be deleted first, and the role must have no path."},
		"UserDataSizeLimitExceeded":           {"has too much user data", "Shorten the user data of the class: EC2 takes 16 KB."},
		"TagValidationFailed":                 {"has tags that Karpenter reserves", "Remove those tags from the class."},
		"ClusterCIDRResolutionFailed":         {"cannot read the cluster's service range", "Allow Karpenter's role to call eks:DescribeCluster."},
		"InvalidKubeletConfiguration":         {"has an invalid kubelet configuration", "Correct the kubelet section of the class."},
		"UnsupportedKubeletConfiguration":     {"has an unsupported kubelet configuration", "Correct the kubelet section of the class."},
	}[reason]
	return m, ok
}

// short ends a title: what the class lacks.
func short(w state) string {
	if w.gone || w.says.Reason == "NodeClassNotFound" {
		return "does not exist"
	}
	if m, ok := meanings(w.says.Reason); ok && w.says.Status == "False" {
		return m.short
	}
	return "is not ready"
}

// long is the rest of the sentence, with the condition's own reason and message.
func long(w state) string {
	text := short(w)
	if w.says.Status == "Unknown" {
		text = fmt.Sprintf("is not ready: its condition %s has been Unknown since %s", w.of, phrase.ClockTime(w.says.Since))
	}
	if w.gone {
		return text
	}
	if said := phrase.Clip(strings.TrimSuffix(cmp.Or(w.says.Message, w.says.Reason), ".")); said != "" {
		text += fmt.Sprintf(" (%s: %q)", w.of, said)
	}
	return text
}

func next(r snapshot.ClassRef, w state) string {
	switch m, ok := meanings(w.says.Reason); {
	case w.gone || w.says.Reason == "NodeClassNotFound":
		return fmt.Sprintf("Create the %s %s, or name an existing one in the NodePool.", kindOf(r), r.Name)
	case ok:
		return m.next
	case w.of == "InstanceProfileReady":
		return "Check that the role named in the class exists, and that Karpenter's role may create and tag instance profiles and pass the role. Only Karpenter's log says why it is stuck."
	case r.Group == snapshot.AutoModeGroup:
		return "Look at the conditions of the NodeClass, and check that the cluster's role has the policies for EKS Auto Mode."
	}
	return "Look at the conditions of the class, and in Karpenter's log for its name."
}

const mostInstead = 8

// instead is what the class selects by, and what the VPC has of that kind: one
// of them mostly has another value of the same tag.
func instead(s *facts.View, class snapshot.NodeClass, of string) []finding.Evidence {
	switch of {
	case "SubnetsReady":
		var have []finding.Evidence
		for _, n := range s.Subnets {
			if s.Cluster.VPC == "" || n.VPC == s.Cluster.VPC {
				have = append(have, finding.Evidence{What: n.ID, Value: strings.TrimSpace(n.Zone + " " + tagsLike(n.Tags, class.Subnets))})
			}
		}
		return selected("Selects subnets by", class.Subnets, have, s.Has(snapshot.Subnets))
	case "SecurityGroupsReady":
		var have []finding.Evidence
		for _, g := range s.SecurityGroups {
			if s.Cluster.VPC == "" || g.VPC == s.Cluster.VPC {
				have = append(have, finding.Evidence{What: g.ID, Value: strings.TrimSpace(phrase.Clip(g.Name) + " " + tagsLike(g.Tags, class.Groups))})
			}
		}
		return selected("Selects security groups by", class.Groups, have, s.Has(snapshot.SecurityGroups))
	case "AMIsReady":
		return selected("Selects AMIs by", class.Images, nil, false)
	case "InstanceProfileReady":
		if name := cmp.Or(class.Profile, class.Role); name != "" {
			return []finding.Evidence{{What: phrase.FirstOf(nonEmpty(class.Profile, "Instance profile"), "Role"), Value: phrase.Clip(name)}}
		}
	}
	return nil
}

// nonEmpty is the word where there is a text.
func nonEmpty(text, word string) []string {
	if text == "" {
		return nil
	}
	return []string{word}
}

func selected(what string, terms []snapshot.SelectorTerm, have []finding.Evidence, read bool) []finding.Evidence {
	var words []string
	for _, t := range terms {
		words = append(words, term(t))
	}
	var list []finding.Evidence
	if len(words) > 0 {
		list = append(list, finding.Evidence{What: what, Value: phrase.Clip(strings.Join(words[:min(len(words), 5)], "; or "))})
	}
	if read && len(have) == 0 {
		return append(list, finding.Evidence{What: "In the cluster's VPC", Value: "none"})
	}
	more := len(have) - mostInstead
	list = append(list, have[:min(len(have), mostInstead)]...)
	if more > 0 {
		list = append(list, finding.Evidence{What: "More", Value: fmt.Sprint(more)})
	}
	return list
}

func term(t snapshot.SelectorTerm) string {
	var words []string
	for _, pair := range [][2]string{{"id", t.ID}, {"name", t.Name}, {"alias", t.Alias}} {
		if pair[1] != "" {
			words = append(words, pair[0]+" "+phrase.Clip(pair[1]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
		words = append(words, "tag "+key+"="+t.Tags[key])
	}
	return strings.Join(words, ", ")
}

// tagsLike are the tags with the keys that the terms name.
func tagsLike(tags map[string]string, terms []snapshot.SelectorTerm) string {
	var words []string
	asked := map[string]bool{}
	for _, t := range terms {
		for key := range t.Tags {
			asked[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		value, has := tags[key]
		if has {
			words = append(words, phrase.Clip(key+"="+value))
		} else {
			words = append(words, phrase.Clip("no tag "+key))
		}
	}
	return strings.Join(words, ", ")
}
