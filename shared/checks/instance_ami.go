package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

func imageUnfit() Check {
	return usingStart(Check{
		ID:         "instance/ami",
		Title:      "The image is gone, out of support or for something else",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes, snapshot.Images},
		After:      []ID{"instance/version-skew"},
		Cause:      "EC2 does not list the image (deregistered, or no longer shared with this account), its architecture is not the instance type's, it is for a Kubernetes version that does not go with the control plane's, or it is an EKS image with Amazon Linux 2, whose support ended on 26 November 2025.",
		Fix:        "Start a current EKS image of the control plane's version and the instance type's architecture.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-amis.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
		},
		Run: runImageUnfit,
	})
}

func runImageUnfit(s *View) []Finding {
	l := s.Index()
	suspects, well := l.s.Suspects()
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
	var list []Finding
	faults := map[string]int{} // image to its finding: one message for each
	for _, key := range order {
		group := by[key]
		ami := group[0].AMI
		if f, lacks := l.unseenImage(ami); lacks {
			list = append(list, Finding{Outcome: Unknown, Resource: cmp.Or(ami, s.Cluster.Name), Covers: ids(group), Blocked: []snapshot.Failure{f}})
			continue
		}
		image, known := images[ami]
		reasons := l.unfit(image, known, group[0])
		if len(reasons) == 0 {
			well = append(well, group...)
			continue
		}
		at, again := faults[ami]
		if !again {
			faults[ami] = len(list)
			list = append(list, l.imageUnfit(ami, image, group, reasons))
			continue
		}
		list[at].Covers = append(list[at].Covers, ids(group)...)
		list[at].Instances = slices.Clone(list[at].Covers)
	}
	if len(well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: ids(well)})
	}
	return list
}

// unseenImage is why nothing is known of an image.
func (l ledger) unseenImage(ami string) (snapshot.Failure, bool) {
	if ami == "" {
		return snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.Broken, Message: "EC2 names no image"}, true
	}
	return l.s.Lacks(snapshot.Images, ami)
}

// unfit is what is wrong with an image for an instance.
func (l ledger) unfit(image snapshot.Image, known bool, i *snapshot.Instance) []string {
	if !known {
		return []string{"EC2 does not list it: it was deregistered, or is no longer shared with this account"}
	}
	var reasons []string
	switch image.State {
	case "available", "":
	default:
		reasons = append(reasons, "its state is "+image.State)
	}
	if types := l.architectures(i.Type); image.Architecture != "" && len(types) > 0 && !slices.Contains(types, image.Architecture) {
		reasons = append(reasons, fmt.Sprintf("it is for %s, and %s has %s", image.Architecture, i.Type, and(types)))
	}
	if wrong := skew(minorOfImage(image.Name), minorOf(l.s.Cluster.Version)); wrong != "" {
		reasons = append(reasons, wrong)
	}
	if ofAL2(image.Name) && !l.s.Time.Before(endOfAL2()) {
		reasons = append(reasons, "it is an EKS image with Amazon Linux 2, whose support ended on 26 November 2025")
	}
	return reasons
}

func (l ledger) architectures(instanceType string) []string {
	for _, t := range l.s.InstanceTypes {
		if t.Name == instanceType {
			return t.Architectures
		}
	}
	return nil
}

func (l ledger) imageUnfit(ami string, image snapshot.Image, group []*snapshot.Instance, reasons []string) Finding {
	f := Finding{
		Outcome: Fail, Resource: ami, Covers: ids(group), Instances: ids(group),
		Title: title("%s does not fit: %s", ami, reasons[0]),
		Why:   fmt.Sprintf("%s: %s.", cmp.Or(image.Name, ami), strings.Join(reasons, "; ")),
		Evidence: []Evidence{{What: ami, Value: fmt.Sprintf("%s, %s, %s, owner %s", cmp.Or(image.Name, "no name"), cmp.Or(image.Architecture, "architecture not said"),
			cmp.Or(image.State, "not listed"), cmp.Or(image.OwnerAlias, image.Owner, "not known"))}},
		Fix: Fix{
			Text:    "Set a current EKS image in the launch template or nodegroup, and replace the instances.",
			Console: ec2Console(l.s, "ImageDetails:imageId="+ami),
		},
	}
	if !image.Deprecated.IsZero() && !l.s.Time.Before(image.Deprecated) {
		f.Evidence = append(f.Evidence, Evidence{What: ami, Value: "deprecated since " + image.Deprecated.UTC().Format("2006-01-02") + "; that alone does no harm"})
	}
	if m := minorOf(l.s.Cluster.Version); m > 0 {
		architecture := "x86_64"
		if slices.Contains(l.architectures(group[0].Type), "arm64") {
			architecture = "arm64"
		}
		f.Fix.Command = aws(l.s, "ssm get-parameter", "--name",
			fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/standard/recommended/image_id", m, architecture), "--query", "Parameter.Value", "--output", "text")
	}
	return f
}
