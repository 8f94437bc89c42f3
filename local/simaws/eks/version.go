package eks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// rollTick is how often EKS looks how far a rolling update is.
const rollTick = 15 * time.Second

// UpdateNodegroupVersion replaces a nodegroup's nodes one after the other.
func (s API) UpdateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	defer s.w.Enter()()
	w := s.w
	ng, err := eksNodegroup(w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	if err := updatable(ng); err != nil {
		return nil, err
	}
	if t := in.LaunchTemplate; t != nil && w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version)) == nil {
		return nil, wire.Errorf("InvalidParameterException", "Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
	}
	r := &roll{ng: ng, before: ng.Status, to: versionAfter(w, ng, in)}
	u := newUpdate(w, ekstypes.UpdateTypeVersionUpdate)
	u.Params = versionParams(in, r.to)
	r.update = u
	ng.Updates = append(ng.Updates, u)
	nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusUpdating)
	if f := takeFault(w, *in.ClusterName, *in.NodegroupName, "", string(u.Type)); f != nil {
		endUpdateFailed(w, ng, u, f, r.before)
	} else {
		beginRoll(w, r)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: deepcopy.Of(u)}, nil
}

// versionAfter is what a nodegroup has after an update: what was asked for,
// and the release that goes with it.
func versionAfter(w *state.State, ng *state.Nodegroup, in *eks.UpdateNodegroupVersionInput) state.Release {
	to := state.Release{Version: aws.ToString(ng.Version), Release: aws.ToString(ng.ReleaseVersion), Template: ng.LaunchTemplate}
	if in.Version != nil {
		to.Version = *in.Version
	}
	switch {
	case in.ReleaseVersion != nil:
		to.Release = *in.ReleaseVersion
		if v := strings.SplitN(to.Release, ".", 3); in.Version == nil && len(v) == 3 {
			to.Version = v[0] + "." + v[1]
		}
	case in.LaunchTemplate == nil:
		// The newest release, which here is always that of the day.
		to.Release = to.Version + ".1-" + w.Now.UTC().Format("20060102")
	}
	if in.LaunchTemplate != nil {
		to.Template = deepcopy.Of(in.LaunchTemplate)
	}
	return to
}

func versionParams(in *eks.UpdateNodegroupVersionInput, to state.Release) []ekstypes.UpdateParam {
	out := []ekstypes.UpdateParam{
		{Type: ekstypes.UpdateParamTypeVersion, Value: aws.String(to.Version)},
		{Type: ekstypes.UpdateParamTypeReleaseVersion, Value: aws.String(to.Release)},
	}
	if t := in.LaunchTemplate; t != nil {
		out = append(out, ekstypes.UpdateParam{Type: ekstypes.UpdateParamTypeLaunchTemplateVersion, Value: aws.String(aws.ToString(t.Version))})
	}
	return out
}

// nextTemplate makes the next version of the template that EKS keeps for a
// group, and has the group launch from it. It returns the version of before.
func nextTemplate(w *state.State, g *state.Group, to state.Release) string {
	have, spec := w.GroupTemplate(g), g.TemplateSpec()
	if have == nil || spec == nil {
		return ""
	}
	was := aws.ToString(spec.Version)
	t := w.TemplateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName))
	next := deepcopy.Of(*have)
	next.VersionNumber = aws.Int64(aws.ToInt64(t.LatestVersionNumber) + 1)
	next.DefaultVersion, next.CreateTime = aws.Bool(false), aws.Time(w.Now)
	if next.LaunchTemplateData == nil {
		next.LaunchTemplateData = &ec2types.ResponseLaunchTemplateData{}
	}
	w.AddTemplateVersion(&next)
	// The members keep the specification they were launched from.
	useTemplate(w, g, strconv.FormatInt(*next.VersionNumber, 10))
	overlayTemplate(w, to.Template, g)
	return was
}

// useTemplate has a group launch from a version of its template.
func useTemplate(w *state.State, g *state.Group, version string) {
	if spec := g.TemplateSpec(); spec != nil && version != "" {
		for i := range g.Instances {
			g.Instances[i].LaunchTemplate = deepcopy.Of(g.Instances[i].LaunchTemplate)
		}
		spec.Version = aws.String(version)
	}
}

// stuck is what an update fails with whose new nodes do not join.
func stuck(ng *state.Nodegroup, ids []string) []worldfile.EKSIssue {
	return []worldfile.EKSIssue{{
		Code:        string(ekstypes.ErrorCodeNodeCreationFailure),
		Message:     fmt.Sprintf("Couldn't proceed with upgrade process as new nodes are not joining node group %s", aws.ToString(ng.NodegroupName)),
		ResourceIds: ids,
	}}
}
