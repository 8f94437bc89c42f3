package authorization

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

// Launch is an instance that somebody wants to start.
type Launch struct {
	Type, Subnet, Image string
	Groups              []string
	Spot                bool
	// Tags are those of the request, by the kind of what they are for.
	Tags []ec2types.TagSpecification
	// Template is the id of its launch template, ProfileARN its instance profile.
	Template, ProfileARN string
	// TokensRequired tells that its metadata service wants a session token.
	TokensRequired bool
}

// Run is EC2's refusal of a RunInstances, nil where it is allowed (Service
// Authorization Reference, Amazon EC2, RunInstances). The role of the instance
// profile is passed with it, and tags are created with it.
func Run(w *state.State, caller string, l Launch) error {
	return launch(w, caller, "RunInstances", l, resource(w, "instance/*", "instance", l.Tags, map[string][]string{
		"ec2:InstanceType": {l.Type}, "ec2:MetadataHttpTokens": {map[bool]string{true: "required", false: "optional"}[l.TokensRequired]},
		"ec2:InstanceMarketType": {map[bool]string{true: "spot", false: "on-demand"}[l.Spot]},
	}))
}

// Fleet is EC2's refusal of a CreateFleet as a whole, before it starts anything
// (Service Authorization Reference, Amazon EC2, CreateFleet: a launch template on
// kubernetes-sigs/karpenter#2813, a subnet on aws/karpenter-provider-aws#5185).
func Fleet(w *state.State, caller string, l Launch) error {
	return launch(w, caller, "CreateFleet", l, resource(w, "fleet/*", "fleet", l.Tags, nil), resource(w, "instance/*", "instance", l.Tags, nil))
}

// Template is EC2's refusal of a CreateLaunchTemplate.
func Template(w *state.State, caller string, tags []ec2types.TagSpecification) error {
	return creates(w, caller, "CreateLaunchTemplate", []Resource{resource(w, "launch-template/*", "launch-template", tags, nil)}, nil)
}

// On is EC2's refusal of an action on instances that are there.
func On(w *state.State, caller, action string, instances []string, tags []ec2types.Tag) error {
	var list []Resource
	for _, id := range instances {
		r := Resource{ARN: w.ARN("ec2", "instance/"+id), Keys: map[string][]string{}}
		if in := w.Instances.Get(id); in != nil {
			tagged(r.Keys, "aws:ResourceTag/", in.Tags)
		}
		tagged(r.Keys, "aws:RequestTag/", tags)
		if len(tags) > 0 {
			r.Keys["aws:TagKeys"] = keysOf(tags)
		}
		list = append(list, r)
	}
	return Check(w, caller, action, list)
}

func launch(w *state.State, caller, action string, l Launch, own ...Resource) error {
	made := slices.Clone(own)
	for _, kind := range []string{"volume", "network-interface"} {
		made = append(made, resource(w, kind+"/*", kind, l.Tags, nil))
	}
	if l.Spot && action == "RunInstances" {
		made = append(made, resource(w, "spot-instances-request/*", "spot-instances-request", l.Tags, nil))
	}
	var used []Resource
	has := func(path string, tags []ec2types.Tag) {
		r := Resource{ARN: w.ARN("ec2", path), Keys: map[string][]string{}}
		tagged(r.Keys, "aws:ResourceTag/", tags)
		used = append(used, r)
	}
	if l.Template != "" {
		has("launch-template/"+l.Template, templateTags(w, l.Template))
	}
	if s := w.Subnets.Get(l.Subnet); s != nil {
		has("subnet/"+l.Subnet, s.Tags)
	}
	for _, id := range l.Groups {
		if g := w.SecurityGroups.Get(id); g != nil {
			has("security-group/"+id, g.Tags)
		}
	}
	if l.Image != "" {
		// Images have no account in their ARN.
		used = append(used, Resource{ARN: "arn:aws:ec2:" + w.Region + "::image/" + l.Image})
	}
	if err := creates(w, caller, action, made, used); err != nil {
		return err
	}
	if p := w.ProfileNamed("", l.ProfileARN); action == "RunInstances" && p != nil && len(p.Roles) > 0 {
		return Check(w, caller, "iam:PassRole", []Resource{{ARN: aws.ToString(p.Roles[0].Arn), Keys: map[string][]string{"iam:PassedToService": {"ec2.amazonaws.com"}}}})
	}
	return nil
}

// creates asks for an action, and for the tags that it gives what it makes.
func creates(w *state.State, caller, action string, made, used []Resource) error {
	if err := Check(w, caller, "ec2:"+action, slices.Concat(made, used)); err != nil {
		return err
	}
	for _, r := range made {
		if len(r.Keys["aws:TagKeys"]) == 0 {
			continue
		}
		r.Keys["ec2:CreateAction"] = []string{action}
		if err := Check(w, caller, "ec2:CreateTags", []Resource{r}); err != nil {
			return err
		}
	}
	return nil
}

// resource is what a call makes: it has no id yet.
func resource(w *state.State, path, kind string, specs []ec2types.TagSpecification, keys map[string][]string) Resource {
	r := Resource{ARN: w.ARN("ec2", path), Keys: map[string][]string{}}
	for key, values := range keys {
		r.Keys[key] = values
	}
	for _, s := range specs {
		if string(s.ResourceType) == kind && len(s.Tags) > 0 {
			tagged(r.Keys, "aws:RequestTag/", s.Tags)
			r.Keys["aws:TagKeys"] = keysOf(s.Tags)
		}
	}
	return r
}

func templateTags(w *state.State, id string) []ec2types.Tag {
	if t := w.Templates.Get(id); t != nil {
		return t.Tags
	}
	return nil
}

func tagged(keys map[string][]string, prefix string, tags []ec2types.Tag) {
	for _, t := range tags {
		keys[prefix+aws.ToString(t.Key)] = []string{aws.ToString(t.Value)}
	}
}

func keysOf(tags []ec2types.Tag) []string {
	var out []string
	for _, t := range tags {
		out = append(out, aws.ToString(t.Key))
	}
	return out
}
