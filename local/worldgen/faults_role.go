package worldgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checkid"
)

// strip takes from a role what its policies of some names grant.
func strip(r *worldfile.RoleFile, parts ...string) {
	has := func(name string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	r.AttachedManagedPolicies = without(r.AttachedManagedPolicies, func(p iamtypes.AttachedPolicy) bool { return has(*p.PolicyName) })
	r.RolePolicyList = without(r.RolePolicyList, func(p iamtypes.PolicyDetail) bool { return has(*p.PolicyName) })
}

func roleFaults() []Fault {
	return []Fault{
		{Name: "instances without a profile", Check: checkid.IAMProfileMissing, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) { i.IamInstanceProfile = nil })
			if w.template != "" {
				w.templateVersion().LaunchTemplateData.IamInstanceProfile = nil
			}
		}},
		{Name: "a profile without a role", Check: checkid.IAMProfileMissing, applies: always, breaks: func(w *World) {
			find(w.File.IAM.InstanceProfiles, func(p *iamtypes.InstanceProfile) bool { return *p.InstanceProfileName == "workers-profile" }).Roles = nil
		}},
		{Name: "the role may not pull images", Check: checkid.IAMRolePolicies, applies: always, breaks: func(w *World) { strip(w.roleNamed("workers"), "ContainerRegistry", "pull") }},
		{Name: "the role may not learn its name", Check: checkid.IAMRolePolicies, applies: func(w *World) bool { return w.Shape.CNI != NodeIdentity }, breaks: func(w *World) { strip(w.roleNamed("workers"), "WorkerNode", "worker") }},
		{Name: "the role has no policy", Check: checkid.IAMRolePolicies, Or: []checkid.ID{checkid.IAMCNIRolePolicies}, applies: always, breaks: func(w *World) { strip(w.roleNamed("workers"), "") }},
		{Name: "a boundary allows nothing of it", Check: checkid.IAMRolePolicies, Or: []checkid.ID{checkid.IAMCNIRolePolicies}, applies: always, breaks: func(w *World) {
			arn := "arn:aws:iam::" + account + ":policy/edge"
			w.File.IAM.Policies = append(w.File.IAM.Policies, iamtypes.ManagedPolicyDetail{
				Arn: &arn, PolicyName: aws.String("edge"), DefaultVersionId: aws.String("v1"),
				PolicyVersionList: []iamtypes.PolicyVersion{{VersionId: aws.String("v1"), IsDefaultVersion: true, Document: document([]string{"s3:*", "logs:*"})}},
			})
			w.roleNamed("workers").PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{PermissionsBoundaryArn: &arn, PermissionsBoundaryType: iamtypes.PermissionsBoundaryAttachmentTypePolicy}
		}},
		{Name: "the role trusts another service", Check: checkid.IAMRoleTrust, applies: always, breaks: func(w *World) {
			w.roleNamed("workers").AssumeRolePolicyDocument = trust(map[string]string{"Service": "ecs-tasks.amazonaws.com"}, nil, "sts:AssumeRole")
		}},
		{Name: "the plugin's own role may nothing", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, func(w *World) bool { return w.cniRole != "" }), breaks: func(w *World) {
			strip(w.roleNamed(cluster+"-aws-node"), "")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the association's role may not assume the plugin's", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, (*World).chained), breaks: func(w *World) {
			strip(w.roleNamed(cluster+"-pods"), "")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the association's session policy allows nothing of the plugin", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, func(w *World) bool { return w.Shape.CNI == PodIdentity }), breaks: func(w *World) {
			a := &w.File.EKS.PodIdentityAssociations[0]
			a.Policy, a.DisableSessionTags = aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`), aws.Bool(true)
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the node role may nothing of the plugin", Check: checkid.IAMCNIRolePolicies, Or: []checkid.ID{checkid.IAMRolePolicies}, reach: lets, applies: both(linux, func(w *World) bool { return w.Shape.CNI == NodeIdentity }), breaks: func(w *World) {
			strip(w.roleNamed("workers"), "CNI", "plugin")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
	}
}

// dropEntry takes the node role's access entry away.
func (w *World) dropEntry() {
	w.File.EKS.AccessEntries = without(w.File.EKS.AccessEntries, func(e ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
}

// remap rewrites mapRoles of aws-auth.
func (w *World) remap(rewrite func(string) string) {
	for _, c := range w.File.Kubernetes[cluster].ConfigMaps {
		data := c["data"].(map[string]any)
		data["mapRoles"] = rewrite(data["mapRoles"].(string))
	}
}

// mapping is the item of mapRoles for the node role.
const mapping = "- rolearn: arn:aws:iam::" + account + ":role/workers\n"

// unmap takes the node role's item out of mapRoles.
func unmap(text string) string {
	head, tail, found := strings.Cut(text, mapping)
	if !found {
		return text
	}
	if i := strings.Index(tail, "- rolearn:"); i >= 0 {
		return head + tail[i:]
	}
	return head
}

func accessFaults() []Fault {
	entries := func(w *World) bool { return w.Shape.Auth != ByMap }
	maps := func(w *World) bool { return w.Shape.Auth != ByEntries }
	rewritten := func(from, to string) func(*World) {
		return func(w *World) {
			w.dropEntry()
			w.remap(func(text string) string { return strings.Replace(text, from, to, 1) })
		}
	}
	return []Fault{
		{Name: "nobody let the role in", Check: checkid.IAMAccessMissing, applies: always, breaks: func(w *World) {
			w.dropEntry()
			w.remap(unmap)
		}},
		{Name: "no aws-auth", Check: checkid.IAMAccessMissing, applies: func(w *World) bool { return w.Shape.Auth == ByMap }, breaks: func(w *World) {
			k := w.File.Kubernetes[cluster]
			k.ConfigMaps = nil
			w.File.Kubernetes[cluster] = k
		}},
		{Name: "the profile is mapped in place of the role", Check: checkid.IAMAccessWrongARN, applies: maps, breaks: rewritten(mapping, "- rolearn: arn:aws:iam::"+account+":instance-profile/workers-profile\n")},
		{Name: "the role is mapped with its path", Check: checkid.IAMAccessWrongARN, applies: both(maps, func(w *World) bool { return w.Shape.RolePath }),
			breaks: rewritten(mapping, "- rolearn: arn:aws:iam::"+account+":role/nodes/workers\n")},
		{Name: "an entry of the type STANDARD", Check: checkid.IAMAccessWrongType, applies: entries, breaks: func(w *World) {
			e := w.entry()
			e.Type, e.Username, e.KubernetesGroups = aws.String("STANDARD"), aws.String("arn:aws:sts::"+account+":assumed-role/workers/{{SessionName}}"), nil
			w.remap(unmap)
		}},
		{Name: "the role is mapped twice", Check: checkid.IAMAccessDuplicateMapping, applies: maps, breaks: func(w *World) {
			w.dropEntry()
			w.mapRoles(mapping + "  username: admin\n  groups:\n    - system:masters\n")
		}},
		{Name: "aws-auth is no YAML", Check: checkid.IAMAWSAuthInvalid, applies: maps, breaks: func(w *World) {
			w.dropEntry()
			w.remap(func(text string) string { return strings.Replace(text, "  username:", "\tusername:", 1) })
		}},
		{Name: "STS is off in the region", Check: checkid.IAMSTSRegionDeactivated, applies: always, breaks: func(w *World) {
			for _, id := range w.Young {
				w.File.EC2.ConsoleOutput[id] += fmt.Sprintf("[   20.100000] kubelet[1790]: E1120 14:50:39.699880 1790 \"failed to get token\" err=\"RegionDisabledException: STS is not activated in this region for account:%s. Your account administrator can activate STS in this region using the IAM Console. status code: 403\"\n", account)
			}
		}},
	}
}
