package world

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
	"rollcall/local/simaws/worldfile"
)

// rollTick is how often EKS looks how far a rolling update is.
const rollTick = 15 * time.Second

// UpdateNodegroupVersion replaces a nodegroup's nodes one after the other.
func (s EKS) UpdateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	defer s.w.enter()()
	w := s.w
	ng, err := w.eksNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	if err := ng.updatable(); err != nil {
		return nil, err
	}
	if t := in.LaunchTemplate; t != nil && w.templateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version)) == nil {
		return nil, wire.Errorf("InvalidParameterException", "Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
	}
	r := &roll{ng: ng, before: ng.Status, to: w.versionAfter(ng, in)}
	u := w.newUpdate(ekstypes.UpdateTypeVersionUpdate)
	u.Params = versionParams(in, r.to)
	r.update = u
	ng.updates = append(ng.updates, u)
	w.setNodegroup(ng, ekstypes.NodegroupStatusUpdating)
	if f := w.takeFault(*in.ClusterName, *in.NodegroupName, "", string(u.Type)); f != nil {
		w.endUpdateFailed(ng, u, f, r.before)
	} else {
		w.beginRoll(r)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: deepcopy.Of(u)}, nil
}

// release is what a version update changes of a nodegroup.
type release struct {
	version  string
	release  string
	template *ekstypes.LaunchTemplateSpecification
}

// joining is the release that a nodegroup's nodes join with: that of the
// rolling update while there is one.
func (ng *nodegroup) joining() release {
	if ng.rolling != nil {
		return *ng.rolling
	}
	return release{aws.ToString(ng.Version), aws.ToString(ng.ReleaseVersion), ng.LaunchTemplate}
}

// versionAfter is what a nodegroup has after an update: what was asked for,
// and the release that goes with it.
func (w *World) versionAfter(ng *nodegroup, in *eks.UpdateNodegroupVersionInput) release {
	to := release{version: aws.ToString(ng.Version), release: aws.ToString(ng.ReleaseVersion), template: ng.LaunchTemplate}
	if in.Version != nil {
		to.version = *in.Version
	}
	switch {
	case in.ReleaseVersion != nil:
		to.release = *in.ReleaseVersion
		if v := strings.SplitN(to.release, ".", 3); in.Version == nil && len(v) == 3 {
			to.version = v[0] + "." + v[1]
		}
	case in.LaunchTemplate == nil:
		// The newest release, which here is always that of the day.
		to.release = to.version + ".1-" + w.now.UTC().Format("20060102")
	}
	if in.LaunchTemplate != nil {
		to.template = deepcopy.Of(in.LaunchTemplate)
	}
	return to
}

func versionParams(in *eks.UpdateNodegroupVersionInput, to release) []ekstypes.UpdateParam {
	out := []ekstypes.UpdateParam{
		{Type: ekstypes.UpdateParamTypeVersion, Value: aws.String(to.version)},
		{Type: ekstypes.UpdateParamTypeReleaseVersion, Value: aws.String(to.release)},
	}
	if t := in.LaunchTemplate; t != nil {
		out = append(out, ekstypes.UpdateParam{Type: ekstypes.UpdateParamTypeLaunchTemplateVersion, Value: aws.String(aws.ToString(t.Version))})
	}
	return out
}

// nextTemplate makes the next version of the template that EKS keeps for a
// group, and has the group launch from it. It returns the version of before.
func (w *World) nextTemplate(g *group, to release) string {
	have, spec := w.groupTemplate(g), g.templateSpec()
	if have == nil || spec == nil {
		return ""
	}
	was := aws.ToString(spec.Version)
	t := w.templateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName))
	next := deepcopy.Of(*have)
	next.VersionNumber = aws.Int64(aws.ToInt64(t.LatestVersionNumber) + 1)
	next.DefaultVersion, next.CreateTime = aws.Bool(false), aws.Time(w.now)
	if next.LaunchTemplateData == nil {
		next.LaunchTemplateData = &ec2types.ResponseLaunchTemplateData{}
	}
	w.addTemplateVersion(&next)
	// The members keep the specification they were launched from.
	w.useTemplate(g, strconv.FormatInt(*next.VersionNumber, 10))
	w.overlayTemplate(to.template, g)
	return was
}

// useTemplate has a group launch from a version of its template.
func (w *World) useTemplate(g *group, version string) {
	if spec := g.templateSpec(); spec != nil && version != "" {
		for i := range g.Instances {
			g.Instances[i].LaunchTemplate = deepcopy.Of(g.Instances[i].LaunchTemplate)
		}
		spec.Version = aws.String(version)
	}
}

// stuck is what an update fails with whose new nodes do not join.
func stuck(ng *nodegroup, ids []string) []worldfile.EKSIssue {
	return []worldfile.EKSIssue{{
		Code:        string(ekstypes.ErrorCodeNodeCreationFailure),
		Message:     fmt.Sprintf("Couldn't proceed with upgrade process as new nodes are not joining node group %s", aws.ToString(ng.NodegroupName)),
		ResourceIds: ids,
	}}
}
