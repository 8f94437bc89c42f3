package userdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEssential(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a script that joins", "#!/bin/bash\nset -e\necho hunter2\nNAME=prod\n/etc/eks/bootstrap.sh $NAME \\\n  --b64-cluster-ca Zm9v\n# end\n", "#!/bin/bash\n\n\nNAME=prod\n/etc/eks/bootstrap.sh $NAME \\\n  --b64-cluster-ca Zm9v\n\n"},
		{"a script that does not", "#!/bin/bash\necho hunter2\nyum install -y x\n", "#!/bin/bash\n\n\n"},
		{"no format", "hunter2\n", "hunter2\n"},
	} {
		got := Essential(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	const mime = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: prod\n  note: hunter2\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\necho hunter2\n--B--\n"
	was, err := Decode([]byte(mime))
	if err != nil {
		t.Fatal(err)
	}
	is, err := Decode([]byte(Essential(mime)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" || strings.Contains(Essential(mime), "hunter2") {
		t.Errorf("what is read of the parts of MIME (-want +got):\n%s\n%s", diff, Essential(mime))
	}
}
