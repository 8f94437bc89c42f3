package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AMI() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceAMI,
		Title:      "The image is out of support or for something else",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes, snapshot.Images},
		After:      []checkid.ID{checkid.InstanceVersionSkew},
		Cause:      "The image's architecture is not the instance type's, it is for a Kubernetes version that does not go with the control plane's, or it is an EKS image with Amazon Linux 2, whose support ended on 26 November 2025. An image that EC2 does not list (deregistered since, no longer shared, or hidden by the account's Allowed AMIs) or that is disabled keeps no instance that was launched from it from joining: of it nothing is known.",
		Fix:        "Start a current EKS image of the control plane's version and the instance type's architecture.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-amis.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
		},
		Run: runImageUnfit,
	})
}

func runImageUnfit(s *facts.View) []finding.Finding {
	l := s.Index()
	suspects, well := l.S.Suspects()
	images := imagesByID(s)
	var order []string
	by := map[string][]*snapshot.Instance{}
	for _, i := range suspects {
		// One image may be right for one type and wrong for another.
		key := i.AMI + " " + i.Type
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], i)
	}
	var list []finding.Finding
	faults := map[string]int{} // image to its finding: one message for each
	for _, key := range order {
		group := by[key]
		ami := group[0].AMI
		if f, lacks := unseenImage(l, ami); lacks {
			list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: cmp.Or(ami, s.Cluster.Name), Covers: facts.IDs(group), Blocked: []snapshot.Failure{f}})
			continue
		}
		image, known := images[ami]
		if !known {
			// What runs needs its image no more; only what the image is for is unknown,
			// which counts against nothing before the node is due.
			due := slices.DeleteFunc(slices.Clone(group), func(i *snapshot.Instance) bool { return !l.Due(i.ID) })
			well = append(well, slices.DeleteFunc(group, func(i *snapshot.Instance) bool { return l.Due(i.ID) })...)
			if len(due) > 0 {
				why := []snapshot.Failure{{
					Source: snapshot.Images, Reason: snapshot.NotShown, Message: "EC2 does not list " + ami + " (deregistered since, no longer shared, or hidden by Allowed AMIs): which Kubernetes version it is for is unknown",
				}}
				if !s.Has(snapshot.LaunchedImagesOf) {
					why = append(why, s.Why(snapshot.LaunchedImagesOf))
				}
				list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: ami, Covers: facts.IDs(due), Blocked: why})
			}
			continue
		}
		reasons := unfit(l, image, group[0])
		if len(reasons) == 0 {
			well = append(well, group...)
			continue
		}
		at, again := faults[ami]
		if !again {
			faults[ami] = len(list)
			list = append(list, imageUnfitFinding(l, ami, image, group, reasons))
			continue
		}
		list[at].Covers = append(list[at].Covers, facts.IDs(group)...)
		list[at].Instances = slices.Clone(list[at].Covers)
	}
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: facts.IDs(well)})
	}
	return list
}

// unseenImage is why nothing is known of an image.
func unseenImage(l facts.InstanceIndex, ami string) (snapshot.Failure, bool) {
	if ami == "" {
		return snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.Broken, Message: "EC2 names no image"}, true
	}
	return l.S.Lacks(snapshot.Images, ami)
}

// unfit is what is wrong with an image for an instance. Its state is not: a disabled image
// starts nothing more, and what runs is not affected (EC2 user guide, "Disable an AMI").
func unfit(l facts.InstanceIndex, image snapshot.Image, i *snapshot.Instance) []string {
	var reasons []string
	if types := architectures(l, i.Type); image.Architecture != "" && len(types) > 0 && !slices.Contains(types, image.Architecture) {
		reasons = append(reasons, fmt.Sprintf("it is for %s, and %s has %s", image.Architecture, i.Type, phrase.And(types)))
	}
	if wrong := skew(minorOfImage(image.Name), minorOf(l.S.Cluster.Version)); wrong != "" {
		reasons = append(reasons, wrong)
	}
	if ofAL2(image.Name) && !l.S.Time.Before(endOfAL2()) {
		reasons = append(reasons, "it is an EKS image with Amazon Linux 2, whose support ended on 26 November 2025")
	}
	return reasons
}

func architectures(l facts.InstanceIndex, instanceType string) []string {
	for _, t := range l.S.InstanceTypes {
		if t.Name == instanceType {
			return t.Architectures
		}
	}
	return nil
}

func imageUnfitFinding(l facts.InstanceIndex, ami string, image snapshot.Image, group []*snapshot.Instance, reasons []string) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: ami, Covers: facts.IDs(group), Instances: facts.IDs(group),
		Title: phrase.Title("%s does not fit: %s", ami, reasons[0]),
		Why:   fmt.Sprintf("%s: %s.", cmp.Or(image.Name, ami), strings.Join(reasons, "; ")),
		Evidence: []finding.Evidence{{What: ami, Value: fmt.Sprintf("%s, %s, %s, owner %s", cmp.Or(image.Name, "no name"), cmp.Or(image.Architecture, "architecture not said"),
			cmp.Or(image.State, "not listed"), cmp.Or(image.OwnerAlias, image.Owner, "not known"))}},
		Fix: finding.Fix{
			Text:    "Set a current EKS image in the launch template or nodegroup, and replace the instances.",
			Console: link.EC2(l.S, "ImageDetails:imageId="+ami),
		},
	}
	if !image.Deprecated.IsZero() && !l.S.Time.Before(image.Deprecated) {
		f.Evidence = append(f.Evidence, finding.Evidence{What: ami, Value: "deprecated since " + image.Deprecated.UTC().Format("2006-01-02") + "; that alone does no harm"})
	}
	if m := minorOf(l.S.Cluster.Version); m > 0 {
		architecture := "x86_64"
		if slices.Contains(architectures(l, group[0].Type), "arm64") {
			architecture = "arm64"
		}
		f.Fix.Command = command.AWS(l.S, "ssm get-parameter", "--name",
			fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/standard/recommended/image_id", m, architecture), "--query", "Parameter.Value", "--output", "text")
	}
	return f
}
