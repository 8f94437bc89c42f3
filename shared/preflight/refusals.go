package preflight

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/checks/facts"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// Refusal is why AWS would not make what is planned, or would give it up.
type Refusal struct {
	// ID tells refusals apart, "refused/subnet-vpc"; none of them is a check.
	ID    checks.ID
	Field string // of the file
	Title string
	Why   string
	Fix   string
	// Source is the page of AWS that says so.
	Source string
	// about are the things of which it tells all: a cause that hangs on one of
	// them says it again.
	about []string
}

// refused begins the ids of refusals.
const refused = "refused/"

// IsRefusal tells the id of a refusal from that of a check.
func IsRefusal(id checks.ID) bool { return strings.HasPrefix(string(id), refused) }

// The pages.
const (
	createNodegroup = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html"
	scalingPage     = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html"
	updatePage      = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html"
	templatesPage   = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
	subnetsPage     = "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"
	al2Page         = "https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html"
	typesPage       = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html"
	rolePage        = "https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html"
	imdsPage        = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html"
	capacityPage    = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
)

// refusing collects refusals, and what kept from judging.
type refusing struct {
	*Draft
	list    []Refusal
	unknown []diagnose.Unknown
	// advice is what is said and keeps nothing from being made.
	advice []diagnose.Cause
}

func (d *Draft) refusals() *refusing {
	r := &refusing{Draft: d}
	d.Plan.maker().refuse(r)
	return r
}

// imds judges the metadata options of nodes by the account's enforcement of IMDSv2: EC2
// refuses a launch that does not require tokens. What a launch leaves out the account's
// defaults say, then the image (EC2 user guide, "Configure instance metadata options for new
// instances", order of precedence, and "Enforce IMDSv2 at the account level").
func (r *refusing) imds(field string, n *nodes) {
	d := r.S.MetadataDefaults
	switch {
	case n.metadata.Tokens == "required" || n.auto:
	case !r.S.Has(snapshot.MetadataDefaultsOf):
		if f := r.S.Why(snapshot.MetadataDefaultsOf); kept(f.Reason) {
			r.blind("imds-enforced", field, f)
		}
	case d == nil || !d.Enforced || n.metadata.Tokens == "" && d.Tokens == "required":
	case n.metadata.Tokens == "":
		r.blind("imds-enforced", field, snapshot.Failure{Source: snapshot.Images, Reason: snapshot.NotRead,
			Message: "the account enforces IMDSv2 and the launch sets no HttpTokens: whether the image requires tokens (ImdsSupport) is not read"})
	default:
		r.refuse("imds-enforced", field, imdsPage, "Set HttpTokens to required, with a hop limit of 2 where pods read the metadata.", "The account enforces IMDSv2 and the launch allows IMDSv1",
			"HttpTokens is %s, and httpTokensEnforced of the account (managed by %s) has EC2 refuse launches that do not require tokens.", n.metadata.Tokens, cmp.Or(d.ManagedBy, "account"))
	}
}

// about says what the last refusal tells all of.
func (r *refusing) about(ids ...string) { r.list[len(r.list)-1].about = ids }

func (r *refusing) refuse(id checks.ID, field, source, fix, title, why string, args ...any) {
	r.list = append(r.list, Refusal{ID: refused + id, Field: field, Title: title, Why: fmt.Sprintf(why, args...), Fix: fix, Source: source})
}

// blind notes what a rule needed and could not see.
func (r *refusing) blind(id checks.ID, field string, f snapshot.Failure) {
	r.unknown = append(r.unknown, diagnose.Unknown{Check: refused + id, Covers: []string{field}, Blocked: []snapshot.Failure{f}})
}

func (p *NodegroupPlan) refuse(r *refusing) {
	n := r.fleets[0]
	r.named()
	r.scaling()
	r.role("nodeRole", n)
	r.placed("subnets", p.Subnets)
	r.launchTemplate()
	r.instanceTypes("instanceTypes", n)
	r.architecture()
	r.offered("instanceTypes", n)
	r.image()
	r.settings()
	r.imds("launchTemplate", n)
}

// nodegroupName is what EKS takes (EKS user guide, "Create a managed node group
// for your cluster": at most 63 characters, begins with a letter or a digit, may
// contain hyphens and underscores).
var nodegroupName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$`)

func (r *refusing) named() {
	p := r.Plan.Nodegroup
	if r.exists {
		r.refuse("name-taken", "nodegroupName", createNodegroup, "Choose another name, or update the nodegroup that is there (update-nodegroup-config, update-nodegroup-version).",
			"There is a nodegroup "+p.NodegroupName+" already", "EKS answers ResourceInUseException to a second nodegroup %s of %s.", p.NodegroupName, r.S.Cluster.Name)
	}
	if !nodegroupName.MatchString(p.NodegroupName) {
		r.refuse("name", "nodegroupName", "https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html", "Choose another name.",
			"The name is none that EKS takes", "%q: a name begins with a letter or a digit, goes on with letters, digits, hyphens and underscores, and has at most 63 characters.", p.NodegroupName)
	}
	if s := r.S.Cluster.Status; s != "" && s != "ACTIVE" && s != "UPDATING" {
		r.refuse("cluster-status", "clusterName", createNodegroup, "Wait until the cluster is ACTIVE.", "The cluster is "+s, "EKS makes nodegroups of a cluster that is ACTIVE; %s is %s.", r.S.Cluster.Name, s)
	}
}

func (r *refusing) scaling() {
	least, most, desired := r.Plan.Nodegroup.sizes()
	switch {
	case most < 1:
		r.refuse("scaling", "scalingConfig.maxSize", scalingPage, "Set maxSize to 1 or more.", "maxSize is below 1", "maxSize is %d; EKS takes 1 and more.", most)
	case least < 0 || desired < 0:
		r.refuse("scaling", "scalingConfig.minSize", scalingPage, "Set sizes of 0 or more.", "A size is below 0", "minSize is %d and desiredSize is %d.", least, desired)
	case least > most, desired < least, desired > most:
		r.refuse("scaling", "scalingConfig.desiredSize", scalingPage, "Set minSize <= desiredSize <= maxSize.", "The sizes contradict each other",
			"minSize is %d, desiredSize %d and maxSize %d (what the file leaves out is 1, 2 and 2): the desired size must be from the least to the most.", least, desired, most)
	}
}

// roleARN is an IAM role's.
var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)

// role judges the role that a service would pass to the nodes.
func (r *refusing) role(field string, n *nodes) {
	if !roleARN.MatchString(n.role) {
		r.refuse("role", field, createNodegroup, "Give the role's ARN: arn:aws:iam::111122223333:role/NAME.", field+" is no role's ARN", "%s is %q, and EKS takes the ARN of an IAM role.", field, n.role)
		return
	}
	if account := strings.Split(n.role, ":")[4]; r.S.Account != "" && account != r.S.Account {
		r.refuse("role", field, createNodegroup, "Give a role of the cluster's own account.", field+" is another account's",
			"%s is of account %s, and the cluster of %s: EKS cannot pass it.", n.role, account, r.S.Account)
		return
	}
	if f, lacks := r.S.Lacks(snapshot.Roles, n.role); lacks && f.Code == facts.NoSuchEntity {
		r.refuse("role", field, rolePage, "Make the role, with its trust and its policies, or name one that is there.", "The role does not exist", "IAM has no role %s (iam:GetRole: NoSuchEntity).", n.role)
		r.about(n.role, n.profile)
	}
}

// placed judges subnets: they must be there, and of the cluster's VPC (EKS user
// guide, "Subnet requirements for nodes": "The subnets must be in the VPC that your
// cluster uses").
func (r *refusing) placed(field string, subnets []string) {
	s := r.S
	var gone, foreign []string
	for _, id := range distinct(subnets) {
		i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == id })
		switch {
		case i >= 0 && s.Cluster.VPC != "" && s.Subnets[i].VPC != s.Cluster.VPC:
			foreign = append(foreign, id+" of "+s.Subnets[i].VPC)
		case i < 0 && s.Has(snapshot.Subnets):
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		r.refuse("subnet", field, subnetsPage, "Name subnets of "+s.Cluster.VPC+".", "A subnet is not in the cluster's VPC",
			"EC2 lists no %s among the subnets of %s, the VPC of %s: it does not exist, or is of another VPC.", strings.Join(gone, ", "), s.Cluster.VPC, s.Cluster.Name)
	}
	if len(foreign) > 0 {
		r.refuse("subnet", field, subnetsPage, "Name subnets of "+s.Cluster.VPC+".", "A subnet is of another VPC",
			"Nodes stand in the cluster's VPC, %s, and not so: %s.", s.Cluster.VPC, strings.Join(foreign, ", "))
	}
}

func (r *refusing) settings() {
	p := r.Plan.Nodegroup
	const mostTaints = 50 // "Managed node groups quotas": 50 taints for each
	if len(p.Taints) > mostTaints {
		r.refuse("taints", "taints", "https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html", "Give fewer taints.", "There are more than 50 taints", "%d taints; EKS takes 50.", len(p.Taints))
	}
	for _, t := range p.Taints {
		if !slices.Contains([]string{"NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"}, t.Effect) {
			r.refuse("taints", "taints", "https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html", "Write NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE.", "A taint has an effect that EKS does not know",
				"%s has the effect %q, and EKS's are NO_SCHEDULE, NO_EXECUTE and PREFER_NO_SCHEDULE.", t.Key, t.Effect)
		}
	}
	if c := p.CapacityType; c != "" && !slices.Contains([]string{"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"}, c) {
		r.refuse("capacity-type", "capacityType", createNodegroup, "Write ON_DEMAND, SPOT or CAPACITY_BLOCK.", "EKS does not know the capacity type", "capacityType is %q.", c)
	}
	if p.CapacityType == "CAPACITY_BLOCK" && p.LaunchTemplate == nil {
		r.refuse("capacity-type", "capacityType", capacityPage, "Give a launch template that names the reservation.", "A capacity block needs a launch template",
			"Which reservation is meant stands in a launch template (InstanceMarketOptions and CapacityReservationSpecification), and the file names none.")
	}
	if u := p.UpdateConfig; u != nil && u.MaxUnavailable != nil && u.Percentage != nil {
		r.refuse("update-config", "updateConfig", updatePage, "Give one of the two.", "updateConfig has a number and a percentage", "maxUnavailable and maxUnavailablePercentage exclude each other.")
	}
}
