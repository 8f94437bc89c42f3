package gather

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// TestLaunchedImages holds when the images of instances are read, and that an id without a
// name is no knowledge of an image: instance/ami would pass it.
func TestLaunchedImages(t *testing.T) {
	const gone = "ec2: {Instances: [{InstanceId: " + stranded + ", ImageId: ami-0dead000000000001}]"
	for name, tt := range map[string]struct {
		change string
		denied denying
		want   []string
		calls  int
		failed string
	}{
		"listed":             {change: ""},
		"gone, and unnamed":  {change: gone + "}\n", calls: 1},
		"gone":               {change: gone + ", Images: [{ImageId: ami-0dead000000000001, Name: amazon-eks-node-1.32-v20251120, State: deregistered}]}\n", want: []string{"ami-0dead000000000001 amazon-eks-node-1.32-v20251120"}, calls: 1},
		"gone, and refused":  {change: gone + "}\n", denied: "DescribeInstanceImageMetadata", calls: 1, failed: "ec2:DescribeInstanceImageMetadata"},
		"images are refused": {change: gone + "}\n", denied: "DescribeImages"},
	} {
		t.Run(name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.LaunchedImagesOf, snapshot.Images}
			s, err := p.Read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			gathertest.Same(t, "images", names(s.LaunchedImages, func(i snapshot.Image) string { return i.ID + " " + i.Name }), tt.want)
			gathertest.Same(t, "calls", countOf(p, "DescribeInstanceImageMetadata"), tt.calls)
			if f := s.Failures[snapshot.LaunchedImagesOf]; f.Call != tt.failed {
				t.Errorf("failure %+v, want %q", f, tt.failed)
			}
		})
	}
}
