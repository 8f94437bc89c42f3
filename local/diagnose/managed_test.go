package diagnose

import "testing"

// instanceGone takes an instance out of the capture, and leaves its node.
func instanceGone(id string) change {
	return edited("ec2-describe-instances", func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			var kept []any
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") != id {
					kept = append(kept, in)
				}
			}
			r.(map[string]any)["Instances"] = kept
		}
	})
}

// autoMode has EKS Auto Mode run nodes.
func autoMode() change {
	return edited("eks-describe-cluster.eks-workshop", func(v any) {
		at(v, "cluster").(map[string]any)["computeConfig"] = map[string]any{"enabled": true}
	})
}

// TestANodeWithoutItsInstance: a Ready node of an instance that the capture does
// not hold is not well by silence, and why is said.
func TestANodeWithoutItsInstance(t *testing.T) {
	t.Parallel()
	const older = "i-0d0000000000000a1"
	for name, test := range map[string]struct {
		want    said
		changes []change
	}{
		"hidden or foreign": {said{2, nil, nil, "names " + older + ", which EC2 does not show"}, []change{instanceGone(older)}},
		"may be hidden":     {said{2, nil, nil, "EKS Auto Mode runs nodes, and the capture has nothing that it manages"}, []change{instanceGone(older), autoMode()}},
	} {
		t.Run(name, func(t *testing.T) { tell(t, test.want, test.changes...) })
	}
}
