package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

const cniRole = "arn:aws:iam::123456789012:role/cni"

// mapping is an entry of mapRoles.
func mapping(arn, user string, groups ...string) string {
	return fmt.Sprintf("- rolearn: %q\n  username: %q\n  groups: [%s]\n", arn, user, strings.Join(groups, ", "))
}

// onlyMap is a cluster that knows roles by aws-auth alone.
func onlyMap(entries ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.AuthMode, s.AccessEntries, s.Principals = "CONFIG_MAP", nil, nil
		s.AWSAuth = &snapshot.AWSAuth{MapRoles: strings.Join(entries, "")}
	}
}

func withoutPolicy(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = slices.DeleteFunc(slices.Clone(s.Roles[0].Policies), func(p snapshot.Policy) bool { return p.Name == name })
	}
}

// ownCNIRole gives aws-node a role that may do what is told.
func ownCNIRole(action string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Role = cniRole
		s.Roles = append(s.Roles, snapshot.Role{ARN: cniRole, Name: "cni", Policies: []snapshot.Policy{
			{Name: "own", Document: fmt.Sprintf(`{"Statement":{"Effect":"Allow","Action":%q,"Resource":"*"}}`, action)},
		}})
	}
}

func consoleSays(line string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: w.Node, Text: line})
	}
}

// Single faults of identity and permission: the one that is named first, and
// alone among the certain ones. Cases of the field are named by their ids.
func TestOneIAMFaultOneName(t *testing.T) {
	node := []string{"system:bootstrappers", "system:nodes"}
	const user = "system:node:{{EC2PrivateDNSName}}"
	tests := []struct {
		name       string
		cause      checks.ID
		confidence checks.Confidence
		world      func() *snapshot.Snapshot
		breakIt    func(*snapshot.Snapshot)
	}{
		{"no instance profile", "iam/profile-missing", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { w.Instance(s, w.Node).Profile = "" }},
		{"profile without a role", "iam/profile-missing", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.Profiles[0].Roles = nil }},
		{"role deleted", "iam/profile-missing", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.Roles = nil
			s.Lack(snapshot.Roles, w.NodeRole, snapshot.Failure{Source: snapshot.Roles, Code: "NoSuchEntity"})
		}},
		{"no trust in EC2", "iam/role-trust", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.Roles[0].Trust = strings.Replace(w.EC2Trust, "ec2", "eks", 1)
		}},
		{"no ECR policy", "iam/role-policies", checks.Likely, w.PrivateWithNAT, withoutPolicy("AmazonEC2ContainerRegistryReadOnly")},
		{"no CNI policy anywhere (karp1185)", "iam/role-policies", checks.Likely, w.PrivateWithNAT, withoutPolicy("AmazonEKS_CNI_Policy")},
		{"aws-node's own role may nothing", "iam/cni-role-policies", checks.Certain, w.PrivateWithNAT, ownCNIRole("s3:*")},
		{"no access entry (aioneks111)", "iam/access-missing", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }},
		{"no access entry in the mode API", "iam/access-missing", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			onlyMap(mapping(w.NodeRole, user, node...))(s)
			s.Cluster.AuthMode = "API"
		}},
		{"dropped from aws-auth (eks2289)", "iam/access-missing", checks.Certain, w.PrivateWithNAT, onlyMap(mapping("arn:aws:iam::123456789012:role/other", user, node...))},
		{"mapped without the nodes' group", "iam/access-missing", checks.Certain, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, "system:bootstrappers"))},
		{"mapped by the instance profile", "iam/access-wrong-arn", checks.Certain, w.PrivateWithNAT, onlyMap(mapping(w.ProfileARN, user, node...))},
		{"mapped with the path (roadmap926, eks893)", "iam/access-wrong-arn", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			const role = "arn:aws:iam::123456789012:role/foo/workers"
			s.Roles[0].ARN, s.Profiles[0].Roles[0] = role, role
			onlyMap(mapping(role, user, node...))(s)
		}},
		{"a STANDARD entry", "iam/access-wrong-type", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.AccessEntries[0].Type = "STANDARD" }},
		{"a STANDARD entry before a good mapping", "iam/access-wrong-type", checks.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.AccessEntries[0].Type, s.AccessEntries[0].Username = "STANDARD", "workers"
			s.AWSAuth = &snapshot.AWSAuth{MapRoles: mapping(w.NodeRole, user, node...)}
		}},
		{"mapped twice (ami610)", "iam/access-duplicate-mapping", checks.Likely, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, node...), mapping(w.NodeRole, "test", "system:masters"))},
		{"mapped twice, the last one is nobody", "iam/access-duplicate-mapping", checks.Likely, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, node...), mapping(w.NodeRole, "test"))},
		{"aws-auth is no list (roadmap1287)", "iam/aws-auth-invalid", checks.Certain, w.PrivateWithNAT, onlyMap("rolearn: x\n")},
		{"aws-auth is no YAML (roadmap1287)", "iam/aws-auth-invalid", checks.Certain, w.PrivateWithNAT, onlyMap("- rolearn: x\n\tgroups: []\n")},
		{"STS switched off (eksctl7931)", "iam/sts-region-deactivated", checks.Certain, w.PrivateWithNAT, consoleSays("RegionDisabledException: STS is not activated in this region")},
		{"tokens refused (eksctl2558)", "iam/sts-endpoint", checks.Possible, w.PrivateWithNAT, consoleSays("Failed to list *v1.Service: Unauthorized")},
		{"global STS in a closed VPC (cni647)", "iam/sts-endpoint", checks.Likely, w.EndpointsOnly, func(s *snapshot.Snapshot) {
			ownCNIRole("ec2:*")(s)
			s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "legacy"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.world()
			w.Unjoin(s, w.Node)
			tt.breakIt(s)
			d := diagnosis(s)
			if len(d.Causes) == 0 {
				t.Fatal("no cause")
			}
			c := d.Causes[0]
			if c.Check != tt.cause || c.Confidence != tt.confidence {
				t.Errorf("the first cause is %s, want %s (%s)", line(c), tt.cause, tt.confidence)
			}
			if len(d.Causes) != 1 {
				t.Errorf("%d causes, the second %s, want one", len(d.Causes), line(d.Causes[1]))
			}
			if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) || !slices.Equal(c.Symptoms, []checks.ID{"node/not-registered"}) {
				t.Errorf("instances %q of %q with %q, want %q of %q", c.Instances, c.Nodegroups, c.Symptoms, w.Node, w.Nodegroup)
			}
		})
	}
}

// The plugin of a node that registered, on a policy that is too old for it.
func TestNewerCNIOnAnOldPolicy(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	unready(s)
	ownCNIRole("ec2:*")(s)
	s.CNI.Image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.22.1-eksbuild.2"
	s.Roles[1].Policies = append(s.Roles[1].Policies, snapshot.Policy{Name: "lock", Document: `{"Statement":{"Effect":"Deny","Action":"ec2:DescribeSecurityGroups","Resource":"*"}}`})
	d := diagnosis(s)
	if len(d.Causes) != 1 || d.Causes[0].Check != "iam/cni-role-policies" || !slices.Equal(d.Causes[0].Symptoms, []checks.ID{"node/not-ready"}) {
		t.Errorf("causes %+v, want iam/cni-role-policies alone", d.Causes)
	}
}

// Two faults: each is named, and none is taken for the other.
func TestTwoIAMFaults(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	noWayOut(s)
	s.AccessEntries, s.Principals = nil, nil
	var got []checks.ID
	for _, c := range diagnosis(s).Causes {
		got = append(got, c.Check)
	}
	if want := []checks.ID{"route/no-egress", "iam/access-missing"}; !slices.Equal(got, want) {
		t.Errorf("causes %q, want %q", got, want)
	}
}
