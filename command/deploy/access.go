package deploy

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"go.yaml.in/yaml/v3"

	"rollcall/shared/shell"
)

// Cluster is a cluster as its Kubernetes API is reached.
type Cluster struct {
	Name, Endpoint string
	CA             []byte // PEM
}

// Object is an object of the manifest, at its path of the Kubernetes API.
type Object struct {
	Kind, Name, Path string
	Body             []byte // YAML
}

// readObjects reads the manifest of Rollcall's rights.
func readObjects(manifest []byte) (list []Object, err error) {
	for objects := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var o struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name, Namespace string }
			Rest       map[string]any `yaml:",inline"`
		}
		var node yaml.Node
		if err := objects.Decode(&node); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		if err := node.Decode(&o); err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		body, err := yaml.Marshal(&node)
		if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		path := "/apis/" + o.APIVersion
		if o.Metadata.Namespace != "" {
			path += "/namespaces/" + o.Metadata.Namespace
		}
		list = append(list, Object{o.Kind, o.Metadata.Name, path + "/" + strings.ToLower(o.Kind) + "s/" + o.Metadata.Name, body})
	}
}

// RefusedError is what a Kubernetes API says.
type RefusedError struct {
	Status int
	Text   string
}

func (r *RefusedError) Error() string {
	return fmt.Sprintf("%d %s: %s", r.Status, http.StatusText(r.Status), r.Text)
}

// Apply applies an object by server-side apply (Kubernetes API concepts, "Server-Side Apply": a PATCH
// with a field manager; force takes over fields that kubectl apply has set).
func Apply(ctx context.Context, via http.RoundTripper, c Cluster, token string, o Object) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, strings.TrimRight(c.Endpoint, "/")+o.Path+"?fieldManager=rollcall-deploy&force=true", bytes.NewReader(o.Body))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := via.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	const most = 4 << 10
	text, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return &RefusedError{resp.StatusCode, strings.TrimSpace(string(text))}
	}
	return nil
}

// grantAccess applies Rollcall's rights in each cluster, or prints the command that does.
func (d *Deployment) grantAccess(ctx context.Context) error {
	if len(d.Clusters) == 0 {
		if command := d.outputs["KubernetesAccessCommand"]; command != "" {
			// The stack knows the file's place in a clone alone.
			command = strings.ReplaceAll(command, "deploy/"+clusterRole, shell.Quote(filepath.Join(d.Release.Dir, clusterRole)))
			d.say("No clusters were named, so the stack created no access entries. For each cluster to watch, run this with its name:\n  %s", command)
		}
		return nil
	}
	manifest, err := d.Release.File(clusterRole)
	if err != nil {
		return err
	}
	objects, err := readObjects(manifest)
	if err != nil {
		return err
	}
	for _, name := range d.Clusters {
		why := d.applyIn(ctx, name, objects)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why == nil {
			d.say("%s: applied Rollcall's ClusterRole and its binding.", name)
		} else {
			config := "/tmp/rollcall-" + name
			d.say("%s: Rollcall's ClusterRole was not applied: %s. Run this where the cluster's API answers, with rights to apply it:\n  %s && %s", name, why,
				shell.Command("aws", "eks", "update-kubeconfig", "--region", d.Region, "--name", name, "--kubeconfig", config),
				shell.Command("kubectl", "--kubeconfig", config, "apply", "-f", filepath.Join(d.Release.Dir, clusterRole)))
		}
		if slices.Contains(d.ConfigMapClusters, name) {
			d.say("%s: authentication mode CONFIG_MAP. Add these lines under mapRoles (kubectl -n kube-system edit configmap aws-auth):\n%s", name, strings.TrimRight(d.outputs["AwsAuthRoles"], "\n"))
		}
	}
	return nil
}

// applyIn applies all objects in a cluster.
func (d *Deployment) applyIn(ctx context.Context, name string, objects []Object) error {
	out, err := d.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if err != nil {
		return fmt.Errorf("eks:DescribeCluster: %w", err)
	}
	c := Cluster{Name: name, Endpoint: aws.ToString(out.Cluster.Endpoint)}
	if a := out.Cluster.CertificateAuthority; a != nil {
		if c.CA, err = base64.StdEncoding.DecodeString(aws.ToString(a.Data)); err != nil {
			return fmt.Errorf("its certificate authority: %w", err)
		}
	}
	for _, o := range objects {
		if err := d.Kubernetes(ctx, c, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
	}
	return nil
}
