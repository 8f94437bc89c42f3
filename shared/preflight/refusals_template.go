package preflight

import (
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

const (
	groupTemplatePage = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/create-launch-template.html"
	templateDataPage  = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html"
	userDataPage      = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html"
)

// refuse says what EC2 or EKS would not launch of a version of a launch template.
func (p *TemplatePlan) refuse(r *refusing) {
	const field = "LaunchTemplateData"
	n := r.fleets[0]
	t := n.template
	if f, lacks := r.S.Lacks(snapshot.LaunchTemplates, p.read().ID); t == nil || lacks && f.Reason != snapshot.NotRead && p.there() {
		r.templateUnseen("LaunchTemplateId", p.read())
		return
	}
	r.templateItself(t)
	for i, n := range r.fleets {
		r.imds(field+".MetadataOptions", n)
		if len(r.S.Nodegroups) > 0 {
			r.managedTemplate(field, n, p.typesOf(r.S.Nodegroups[i], t))
		}
		if !n.unlike && r.instanceTypes(field+".InstanceType", n) {
			r.offered(field+".InstanceType", n)
		}
	}
	if len(r.S.Nodegroups) > 0 {
		return
	}
	r.placed("subnets", n.subnets)
	if t.Image == "" {
		r.refuse("image", field+".ImageId", groupTemplatePage, "Name the image. If it is meant for a managed nodegroup, whose image EKS chooses, judge the nodegroup: its file names the template.",
			"The launch template names no image", "%s has no ImageId, and no nodegroup of %s uses it: an Auto Scaling group, or RunInstances, refuses it (the request must contain the parameter ImageId).", title(t), r.S.Cluster.Name)
	}
	if t.Type == "" || p.requirements {
		r.blind("instance-types", field+".InstanceType", snapshot.Failure{Source: snapshot.InstanceTypes, Reason: snapshot.NotRead,
			Message: title(t) + " names no instance type: which ones are launched says the group"})
	}
}

// typesOf are the types that a nodegroup has of its own: what it shows may be its
// template's.
func (p *TemplatePlan) typesOf(g snapshot.Nodegroup, t *snapshot.LaunchTemplate) []string {
	if len(g.Types) == 1 && g.Types[0] == t.Type {
		return nil
	}
	return g.Types
}

// templateItself is what is wrong with a version whoever launches it.
func (r *refusing) templateItself(t *snapshot.LaunchTemplate) {
	const field = "LaunchTemplateData"
	name := title(t)
	if t.GroupsTwice {
		r.refuse("groups-twice", field+".SecurityGroupIds", templateDataPage, "Name the security groups in the network interface alone.", "Security groups for the instance beside a network interface",
			"%s has SecurityGroupIds and NetworkInterfaces: EC2 refuses the launch (InvalidParameterCombination).", name)
	}
	if !r.S.Has(snapshot.SecurityGroups) {
		r.blind("security-group", field+".SecurityGroupIds", r.S.Why(snapshot.SecurityGroups))
	} else {
		gone, blind := r.foreignGroups(t.Groups)
		if len(gone) > 0 {
			r.refuse("security-group", field+".SecurityGroupIds", templateDataPage, "Name security groups of "+r.S.Cluster.VPC+", or associate them with it.", "A security group is not in the cluster's VPC",
				"%s cannot be used in %s: it does not exist (InvalidGroup.NotFound), or is of another VPC and not associated with this one (InvalidParameter).", strings.Join(gone, ", "), r.S.Cluster.VPC)
			r.about(gone...)
		}
		for _, f := range blind {
			r.blind("security-group", field+".SecurityGroupIds", f)
		}
	}
	const mostUserData = 16 << 10 // "User data is limited to 16 KB, in raw form, before it is base64-encoded."
	if len(t.UserData) > mostUserData {
		r.refuse("user-data-size", field+".UserData", userDataPage, "Make it smaller: compress it, or load the rest from S3.",
			"The user data is too large", "%s has %d bytes of user data; EC2 takes %d.", name, len(t.UserData), mostUserData)
	}
}

// associated is the state in which a security group can be used in a further VPC.
const associated = "associated"

// foreignGroups are the groups that cannot be used in the cluster's VPC, and why that is
// not known of others. A group of another VPC can be associated with it (VPC user guide,
// "Associate security groups with multiple VPCs").
func (r *refusing) foreignGroups(ids []string) (gone []string, blind []snapshot.Failure) {
	for _, id := range ids {
		i := slices.IndexFunc(r.S.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
		switch {
		case i >= 0 && (r.S.SecurityGroups[i].VPC == r.S.Cluster.VPC || r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC] == associated):
		case i >= 0 && !r.S.Has(snapshot.GroupAssociations):
			blind = append(blind, r.S.Why(snapshot.GroupAssociations))
		case i >= 0 && strings.HasSuffix(r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC], "associating"):
			// It is being associated, or no longer.
			blind = append(blind, snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
				Message: id + " is " + r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC] + " with " + r.S.Cluster.VPC})
		default:
			gone = append(gone, id)
		}
	}
	return gone, blind
}
