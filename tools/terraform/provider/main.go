// Command provider stands in for two of Terraform's providers, hashicorp/aws and
// hashicorp/kubernetes: it serves the schemas of the resources and data sources that
// deploy/terraform uses, and keeps what it is given. Nothing is called. So validate, plan,
// apply and test run without an account and without a registry; that the resources behave as
// AWS's own provider has them is not shown by it.
//
// The schemas are those of the providers' documentation:
// hashicorp/terraform-provider-aws, website/docs/r/{cloudformation_stack, eks_access_entry,
// s3_bucket, s3_bucket_policy, s3_bucket_public_access_block,
// s3_object} and d/{eks_cluster, caller_identity,
// partition, region} at 6.x; hashicorp/terraform-provider-kubernetes,
// docs/resources/{cluster_role_v1, cluster_role_binding_v1, role_v1, role_binding_v1}.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	name := "aws"
	if strings.Contains(filepath.Base(os.Args[0]), "kubernetes") {
		name = "kubernetes"
	}
	err := providerserver.Serve(context.Background(), func() provider.Provider { return standIn{name} }, providerserver.ServeOpts{
		Address: "registry.terraform.io/hashicorp/" + name,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// standIn is one of the two providers.
type standIn struct{ name string }

func (p standIn) Metadata(_ context.Context, _ provider.MetadataRequest, r *provider.MetadataResponse) {
	r.TypeName = p.name
}

// Schema has of the providers' own settings those that the examples use.
func (p standIn) Schema(_ context.Context, _ provider.SchemaRequest, r *provider.SchemaResponse) {
	text := providerschema.StringAttribute{Optional: true}
	r.Schema = providerschema.Schema{
		Attributes: map[string]providerschema.Attribute{
			"region": text, "profile": text, "config_path": text, "config_context": text, "host": text, "cluster_ca_certificate": text, "token": text,
		},
	}
	if p.name == "aws" {
		r.Schema.Blocks = map[string]providerschema.Block{
			"assume_role": providerschema.ListNestedBlock{NestedObject: providerschema.NestedBlockObject{Attributes: map[string]providerschema.Attribute{"role_arn": text}}},
		}
		return
	}
	r.Schema.Attributes["exec"] = providerschema.SingleNestedAttribute{Optional: true, Attributes: map[string]providerschema.Attribute{
		"api_version": text, "command": text, "args": providerschema.ListAttribute{Optional: true, ElementType: types.StringType},
	}}
}

func (standIn) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (p standIn) Resources(context.Context) []func() resource.Resource {
	var list []func() resource.Resource
	for kind, s := range map[string]map[string]schema.Schema{"aws": awsResources(), "kubernetes": kubernetesResources()}[p.name] {
		list = append(list, func() resource.Resource { return kept{kind, s} })
	}
	return list
}

func (p standIn) DataSources(context.Context) []func() datasource.DataSource {
	if p.name != "aws" {
		return nil
	}
	var list []func() datasource.DataSource
	for kind, d := range awsData() {
		list = append(list, func() datasource.DataSource { return d.as(kind) })
	}
	return list
}

// kept is a resource whose state is what was asked for, and an id where AWS gives one.
type kept struct {
	kind   string
	schema schema.Schema
}

func (k kept) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = k.kind
}

func (k kept) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = k.schema
}

func (k kept) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	r.State.Raw = q.Plan.Raw
	k.answer(ctx, &r.State)
}

func (k kept) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (k kept) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	r.State.Raw = q.Plan.Raw
	k.answer(ctx, &r.State)
}

func (k kept) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// answer fills in what only the API knows.
func (k kept) answer(ctx context.Context, state *tfsdk.State) {
	state.SetAttribute(ctx, path.Root("id"), k.kind+"-0123456789")
	switch k.kind {
	case "aws_cloudformation_stack":
		state.SetAttribute(ctx, path.Root("outputs"), map[string]string{
			"ReaderRoleArn":      "arn:aws:iam::111122223333:role/rollcall-reader-us-west-2",
			"SlackSecretCommand": "aws secretsmanager put-secret-value …", "SlackSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:SlackToken-AbCdEf",
		})
	case "aws_s3_bucket":
		state.SetAttribute(ctx, path.Root("bucket"), "rollcall-20261129000000000000000001")
		state.SetAttribute(ctx, path.Root("arn"), "arn:aws:s3:::rollcall-20261129000000000000000001")
	}
}

// The attributes, by how they are set.
func text() schema.StringAttribute { return schema.StringAttribute{Optional: true} }
func need() schema.StringAttribute { return schema.StringAttribute{Required: true} }
func flag() schema.BoolAttribute   { return schema.BoolAttribute{Optional: true} }
func list() schema.ListAttribute {
	return schema.ListAttribute{Optional: true, ElementType: types.StringType}
}
func dict() schema.MapAttribute {
	return schema.MapAttribute{Optional: true, ElementType: types.StringType}
}

func id() schema.StringAttribute {
	return schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

func awsResources() map[string]schema.Schema {
	of := func(attributes map[string]schema.Attribute) schema.Schema {
		attributes["id"], attributes["region"] = id(), text()
		return schema.Schema{Attributes: attributes}
	}
	return map[string]schema.Schema{
		"aws_cloudformation_stack": of(map[string]schema.Attribute{
			"name": need(), "template_body": text(), "template_url": text(), "capabilities": schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"parameters": dict(), "tags": dict(), "iam_role_arn": text(), "on_failure": text(), "disable_rollback": flag(), "policy_body": text(), "policy_url": text(),
			"timeout_in_minutes": schema.Int64Attribute{Optional: true}, "notification_arns": schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"outputs": schema.MapAttribute{Computed: true, ElementType: types.StringType},
		}),
		"aws_eks_access_entry": of(map[string]schema.Attribute{
			"cluster_name": need(), "principal_arn": need(), "kubernetes_groups": schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"type": text(), "user_name": text(), "tags": dict(),
		}),
		"aws_s3_bucket": of(map[string]schema.Attribute{
			"bucket": schema.StringAttribute{Optional: true, Computed: true}, "bucket_prefix": text(), "force_destroy": flag(), "tags": dict(),
			"arn": schema.StringAttribute{Computed: true},
		}),
		"aws_s3_bucket_policy": of(map[string]schema.Attribute{"bucket": need(), "policy": need()}),
		"aws_s3_bucket_public_access_block": of(map[string]schema.Attribute{
			"bucket": need(), "block_public_acls": flag(), "block_public_policy": flag(), "ignore_public_acls": flag(), "restrict_public_buckets": flag(),
		}),
		"aws_s3_object": of(map[string]schema.Attribute{
			"bucket": need(), "key": need(), "source": text(), "content": text(), "content_type": text(), "source_hash": text(), "etag": text(), "tags": dict(),
		}),
	}
}

func kubernetesResources() map[string]schema.Schema {
	block := func(attributes map[string]schema.Attribute) schema.ListNestedBlock {
		return schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: attributes}}
	}
	of := func(blocks map[string]schema.Block) schema.Schema {
		blocks["metadata"] = block(map[string]schema.Attribute{"name": text(), "namespace": text(), "labels": dict(), "annotations": dict()})
		return schema.Schema{Attributes: map[string]schema.Attribute{"id": id()}, Blocks: blocks}
	}
	rule := func() schema.Block {
		return block(map[string]schema.Attribute{
			"api_groups": list(), "resources": list(), "verbs": schema.ListAttribute{Required: true, ElementType: types.StringType}, "resource_names": list(),
		})
	}
	binding := func() schema.Schema {
		return of(map[string]schema.Block{
			"role_ref": block(map[string]schema.Attribute{"api_group": need(), "kind": need(), "name": need()}),
			"subject":  block(map[string]schema.Attribute{"api_group": text(), "kind": need(), "name": need(), "namespace": text()}),
		})
	}
	return map[string]schema.Schema{
		"kubernetes_cluster_role_v1":         of(map[string]schema.Block{"rule": rule()}),
		"kubernetes_role_v1":                 of(map[string]schema.Block{"rule": rule()}),
		"kubernetes_cluster_role_binding_v1": binding(),
		"kubernetes_role_binding_v1":         binding(),
	}
}

// fixed is a data source that always answers the same, but for a cluster's own name.
type fixed struct {
	kind   string
	schema datasourceschema.Schema
	values map[string]any
}

func (t fixed) as(kind string) fixed {
	t.kind = kind
	return t
}

func (t fixed) Metadata(_ context.Context, _ datasource.MetadataRequest, r *datasource.MetadataResponse) {
	r.TypeName = t.kind
}

func (t fixed) Schema(_ context.Context, _ datasource.SchemaRequest, r *datasource.SchemaResponse) {
	r.Schema = t.schema
}

func (t fixed) Read(ctx context.Context, q datasource.ReadRequest, r *datasource.ReadResponse) {
	r.State.Raw = q.Config.Raw
	for name, value := range t.values {
		r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root(name), value)...)
	}
	if t.kind != "aws_eks_cluster" {
		return
	}
	var cluster string
	r.Diagnostics.Append(q.Config.GetAttribute(ctx, path.Root("name"), &cluster)...)
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("arn"), "arn:aws:eks:us-west-2:111122223333:cluster/"+cluster)...)
	// A cluster of the tests has its endpoints by its name.
	access := endpoints{Private: true, CIDRs: []string{}, Subnets: []string{"subnet-0b2c3d4e5f6071829", "subnet-0a1b2c3d4e5f60718"}, VPC: "vpc-0a1b2c3d4e5f60718", Group: "sg-0a1b2c3d4e5f60718"}
	switch {
	case strings.HasPrefix(cluster, "public"):
		access.Public, access.CIDRs = true, []string{"0.0.0.0/0"}
	case strings.HasPrefix(cluster, "closed"):
		access.Private = false
	}
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("vpc_config"), []endpoints{access})...)
}

type endpoints struct {
	Private bool     `tfsdk:"endpoint_private_access"`
	Public  bool     `tfsdk:"endpoint_public_access"`
	CIDRs   []string `tfsdk:"public_access_cidrs"`
	Subnets []string `tfsdk:"subnet_ids"`
	VPC     string   `tfsdk:"vpc_id"`
	Group   string   `tfsdk:"cluster_security_group_id"`
}

type authority struct {
	Data string `tfsdk:"data"`
}

func awsData() map[string]fixed {
	text := datasourceschema.StringAttribute{Computed: true}
	set := datasourceschema.SetAttribute{Computed: true, ElementType: types.StringType}
	yes := datasourceschema.BoolAttribute{Computed: true}
	of := func(values map[string]any) fixed {
		t := fixed{values: values, schema: datasourceschema.Schema{Attributes: map[string]datasourceschema.Attribute{}}}
		for name := range values {
			t.schema.Attributes[name] = text
		}
		return t
	}
	cluster := of(map[string]any{"endpoint": "https://0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"})
	cluster.schema.Attributes["name"] = datasourceschema.StringAttribute{Required: true}
	cluster.schema.Attributes["arn"] = text
	cluster.values["certificate_authority"] = []authority{{"LS0tLS1CRUdJTg=="}}
	cluster.schema.Attributes["certificate_authority"] = nested(map[string]datasourceschema.Attribute{"data": text})
	cluster.schema.Attributes["vpc_config"] = nested(map[string]datasourceschema.Attribute{
		"endpoint_private_access": yes, "endpoint_public_access": yes, "public_access_cidrs": set, "subnet_ids": set, "vpc_id": text, "cluster_security_group_id": text,
	})
	return map[string]fixed{
		"aws_caller_identity": of(map[string]any{"account_id": "111122223333", "arn": "arn:aws:iam::111122223333:role/deploy", "user_id": "AROA:deploy"}),
		"aws_partition":       of(map[string]any{"partition": "aws", "dns_suffix": "amazonaws.com"}),
		"aws_region":          of(map[string]any{"region": "us-west-2", "description": "US West (Oregon)"}),
		"aws_eks_cluster":     cluster,
	}
}

func nested(attributes map[string]datasourceschema.Attribute) datasourceschema.Attribute {
	return datasourceschema.ListNestedAttribute{Computed: true, NestedObject: datasourceschema.NestedAttributeObject{Attributes: attributes}}
}
