#!/bin/sh
# Takes a capture: what the AWS CLI and kubectl print of EKS clusters and of all
# that their nodes need to join, as files in a folder. It only reads. The folder
# is what `rollcall diagnose DIR` looks at (docs/diagnose.md).
#
# It needs the AWS CLI (v2 or v1), and kubectl for what Kubernetes says.
set -u

usage() {
  cat <<'TEXT'
Takes a capture of EKS clusters with read-only calls.

  sh local/capture.sh --region REGION [--cluster NAME]... [--out DIR] [--mask]

  --region REGION  the clusters' region (default: the AWS CLI's)
  --cluster NAME   a cluster; may be given again (default: all of the region)
  --out DIR        the folder to write, which must not exist or be empty
                   (default: rollcall-capture-<time>)
  --instances N    console and user data of at most N instances that are no
                   Ready nodes (default: 10)
  --mask           replace account ids, names and what looks like a secret,
                   the same ones by the same words (needs Go and this repository)
  --help           this text

A call that is refused is written to errors.json; what depends on it is unknown
to the diagnosis, and all else is still looked at. Exit status: 0 a capture was
taken, 1 it could not be taken, 64 wrong use.
TEXT
}

misuse() { echo "capture: $1; --help tells more" >&2; exit 64; }
say() { printf '%s\n' "$*" >&2; }

region= out= mask= clusters= limit=10
while [ $# -gt 0 ]; do
  case $1 in
    --region | --cluster | --out | --instances)
      [ $# -ge 2 ] && [ -n "$2" ] || misuse "$1 needs a value"
      case $1 in
        --region) region=$2 ;;
        --cluster) clusters="$clusters $2" ;;
        --out) out=$2 ;;
        --instances) limit=$2 ;;
      esac
      shift 2 ;;
    --mask) mask=1; shift ;;
    --help | -h) usage; exit 0 ;;
    *) misuse "$1 is not an option" ;;
  esac
done
case $limit in '' | *[!0-9]*) misuse "--instances $limit is not a number" ;; esac
command -v aws >/dev/null 2>&1 || { say "capture: the AWS CLI is not on the PATH"; exit 1; }
[ -n "$region" ] || region=${AWS_REGION:-${AWS_DEFAULT_REGION:-$(aws configure get region 2>/dev/null)}}
[ -n "$region" ] || misuse "which region? --region is missing"
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
taken=$(date -u +%Y-%m-%dT%H:%M:%SZ)
[ -n "$out" ] || out=rollcall-capture-$(printf %s "$taken" | tr -d ':-')
if [ -e "$out" ] && [ -n "$(ls -A "$out" 2>/dev/null)" ]; then misuse "$out exists and is not empty"; fi
mkdir -p "$out" || exit 1
# What it holds may be used against the account: for its taker's eyes.
chmod 700 "$out"
umask 077
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
: >"$work/refused"
AWS_PAGER=
export AWS_PAGER

cli() { aws --region "$region" --output json "$@"; }
# names gives the words of a text answer, one a line, without "None".
names() { aws --region "$region" --output text "$@" 2>/dev/null | tr '\t ' '\n\n' | sed '/^$/d; /^None$/d' | sort -u; }
# key writes a name as a part of a file's name.
key() { printf %s "$1" | sed 's#/#__#g; s/\./%2E/g'; }
quoted() { printf %s "$1" | tr '\n\t\r' '   ' | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g; s/  */ /g; s/^ //; s/ $//'; }

# refused records why a call gave nothing: refused FILE.
refused() {
  text=$(cat "$work/err")
  code=$(printf %s "$text" | sed -n 's/.*An error occurred (\([A-Za-z0-9._]*\)).*/\1/p; s/.*Error from server (\([A-Za-z]*\)).*/\1/p' | head -n 1)
  case $text in
    *"Invalid choice"* | *"Unknown options"* | *"invalid choice"*) say "  $1: this CLI does not have the call"; return ;;
    *"must be logged in"*) code=Unauthorized ;;
    *"have a resource type"*) code=NotFound ;; # the cluster has no such kind: there is none of it
  esac
  [ -n "$code" ] || code=NoAnswer
  message=$(printf %s "$text" | tr '\n' ' ' | sed 's/.*operation[^:]*: //; s/.*Error from server ([A-Za-z]*): //; s/ Encoded authorization failure message:.*//')
  printf '  "%s": {"code": "%s", "message": "%s"}\n' "$(quoted "$1")" "$(quoted "$code")" "$(quoted "$message")" >>"$work/refused"
  say "  $1: $code"
}

# take makes a call and keeps its answer: take FILE service operation ….
take() {
  file=$1; shift
  if cli "$@" >"$work/answer" 2>"$work/err"; then mv "$work/answer" "$out/$file.json"; else refused "$file"; fi
}

# begin, more and end join the lists of several calls in one file. If one of
# them is refused the list is not whole, and the file is not written.
begin() { joined=$1; member=$2; : >"$work/list"; broken=; }
more() {
  [ -z "$broken" ] || return 0
  if ! cli "$@" --query "$member[]" >"$work/answer" 2>"$work/err"; then refused "$joined"; broken=1; return; fi
  body=$(sed '1s/^[[:space:]]*\[//; $s/\][[:space:]]*$//' "$work/answer")
  [ -n "$(printf %s "$body" | tr -d '[:space:]')" ] || return 0
  [ ! -s "$work/list" ] || printf ',\n' >>"$work/list"
  printf %s "$body" >>"$work/list"
}
end() {
  [ -z "$broken" ] || return 0
  { printf '{"%s": [' "$member"; cat "$work/list"; printf ']}\n'; } >"$out/$joined.json"
}

# kube keeps what kubectl prints: kube FILE get ….
kube() {
  file=$1; shift
  if [ -z "$kubeconfig" ]; then return; fi
  if kubectl --kubeconfig "$kubeconfig" --request-timeout 30s "$@" -o json >"$work/answer" 2>"$work/err"; then
    mv "$work/answer" "$out/$file.json"
  else refused "$file"; fi
}

# EC2 leaves out of its lists what AWS services manage (EKS Auto Mode's
# instances, interfaces and volumes) unless it is asked for. Nothing is called to
# find out whether the CLI can ask.
managed=--include-managed-resources
if ! aws ec2 describe-instances "$managed" --generate-cli-skeleton >/dev/null 2>&1; then
  managed=
  say "this CLI does not have --include-managed-resources: what AWS services manage, EKS Auto Mode's nodes among it, may be missing (AWS CLI of April 2026 or later)"
fi

printf '%s\n' "$taken" >"$out/time.txt"
say "capture of $region at $taken into $out"
take sts-get-caller-identity sts get-caller-identity
if [ -n "$clusters" ]; then
  list=
  for c in $clusters; do list="$list${list:+, }\"$(quoted "$c")\""; done
  printf '{"clusters": [%s]}\n' "$list" >"$out/eks-list-clusters.json"
else
  take eks-list-clusters eks list-clusters
  clusters=$(names eks list-clusters --query 'clusters[]')
fi
[ -n "$clusters" ] || say "  there is no cluster, or none may be listed: --cluster names one"

: >"$work/vpcs"; : >"$work/roles"; : >"$work/templates"; : >"$work/groups"; : >"$work/types"
for c in $clusters; do
  say "cluster $c"
  k=$(key "$c")
  take "eks-describe-cluster.$k" eks describe-cluster --name "$c"
  names eks describe-cluster --name "$c" --query cluster.resourcesVpcConfig.vpcId >>"$work/vpcs"
  take "eks-list-nodegroups.$k" eks list-nodegroups --cluster-name "$c"
  for n in $(names eks list-nodegroups --cluster-name "$c" --query 'nodegroups[]'); do
    take "eks-describe-nodegroup.$k.$(key "$n")" eks describe-nodegroup --cluster-name "$c" --nodegroup-name "$n"
    names eks describe-nodegroup --cluster-name "$c" --nodegroup-name "$n" --query nodegroup.nodeRole >>"$work/roles"
    names eks describe-nodegroup --cluster-name "$c" --nodegroup-name "$n" --query 'nodegroup.instanceTypes[]' >>"$work/types"
    names eks describe-nodegroup --cluster-name "$c" --nodegroup-name "$n" --query nodegroup.launchTemplate.id >>"$work/templates"
    names eks describe-nodegroup --cluster-name "$c" --nodegroup-name "$n" --query 'nodegroup.resources.autoScalingGroups[].name' >>"$work/groups"
    take "eks-list-updates.$k.$(key "$n")" eks list-updates --name "$c" --nodegroup-name "$n"
    # The newest are at one end of the list; EKS does not say at which.
    aws --region "$region" --output text eks list-updates --name "$c" --nodegroup-name "$n" --query 'updateIds[]' 2>/dev/null |
      tr '\t ' '\n\n' | sed '/^$/d; /^None$/d' >"$work/updates"
    for u in $({ head -n 6 "$work/updates"; tail -n 6 "$work/updates"; } | sort -u); do
      take "eks-describe-update.$k.$(key "$n").$(key "$u")" eks describe-update --name "$c" --nodegroup-name "$n" --update-id "$u"
    done
  done
  take "eks-list-addons.$k" eks list-addons --cluster-name "$c"
  for a in $(names eks list-addons --cluster-name "$c" --query 'addons[]'); do
    take "eks-describe-addon.$k.$(key "$a")" eks describe-addon --cluster-name "$c" --addon-name "$a"
    names eks describe-addon --cluster-name "$c" --addon-name "$a" --query addon.serviceAccountRoleArn >>"$work/roles"
  done
  take "eks-list-access-entries.$k" eks list-access-entries --cluster-name "$c"
  for p in $(names eks list-access-entries --cluster-name "$c" --query 'accessEntries[]' | head -n 50); do
    take "eks-describe-access-entry.$k.$(key "${p##*/}")" eks describe-access-entry --cluster-name "$c" --principal-arn "$p"
  done
  take "eks-list-pod-identity-associations.$k" eks list-pod-identity-associations --cluster-name "$c"
  for a in $(names eks list-pod-identity-associations --cluster-name "$c" --namespace kube-system --query 'associations[].associationId'); do
    take "eks-describe-pod-identity-association.$k.$(key "$a")" eks describe-pod-identity-association --cluster-name "$c" --association-id "$a"
    names eks describe-pod-identity-association --cluster-name "$c" --association-id "$a" --query association.roleArn >>"$work/roles"
  done
  names autoscaling describe-auto-scaling-groups --query "AutoScalingGroups[?Tags[?Key=='kubernetes.io/cluster/$c' || Key=='k8s.io/cluster/$c' || (Key=='eks:cluster-name' && Value=='$c')]].AutoScalingGroupName" >>"$work/groups"

  kubeconfig=$work/kubeconfig-$k
  if ! command -v kubectl >/dev/null 2>&1; then
    say "  kubectl is not on the PATH: what Kubernetes says is left out"; kubeconfig=
  elif ! cli eks update-kubeconfig --name "$c" --kubeconfig "$kubeconfig" >/dev/null 2>"$work/err"; then
    say "  no way into Kubernetes: $(head -n 1 "$work/err")"; kubeconfig=
  fi
  kube "kubectl-get-nodes.$k" get nodes
  kube "kubectl-get-pods.$k" get pods --all-namespaces
  kube "kubectl-get-pv.$k" get persistentvolumes
  kube "kubectl-get-pvc.$k" get persistentvolumeclaims --all-namespaces
  kube "kubectl-get-daemonset-aws-node.$k" get daemonset aws-node --namespace kube-system
  kube "kubectl-get-eniconfigs.$k" get eniconfigs.crd.k8s.amazonaws.com
  kube "kubectl-get-nodepools.$k" get nodepools.karpenter.sh
  kube "kubectl-get-nodeclaims.$k" get nodeclaims.karpenter.sh
  kube "kubectl-get-ec2nodeclasses.$k" get ec2nodeclasses.karpenter.k8s.aws
  kube "kubectl-get-nodeclasses.$k" get nodeclasses.eks.amazonaws.com
  kube "kubectl-get-serviceaccount-aws-node.$k" get serviceaccount aws-node --namespace kube-system
  kube "kubectl-get-configmap-aws-auth.$k" get configmap aws-auth --namespace kube-system
  kube "kubectl-get-csr.$k" get certificatesigningrequests
  kube "kubectl-get-events.$k" get events --all-namespaces
  if [ -n "$kubeconfig" ]; then
    kubectl --kubeconfig "$kubeconfig" --request-timeout 30s get nodes -o jsonpath='{range .items[*]}{.spec.providerID} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' 2>/dev/null |
      sed -n 's#^.*/\(i-[0-9a-f]*\) True$#\1#p' >>"$work/ready"
    kubectl --kubeconfig "$kubeconfig" --request-timeout 30s get serviceaccount aws-node --namespace kube-system \
      -o jsonpath='{.metadata.annotations.eks\.amazonaws\.com/role-arn}' 2>/dev/null | sed '/^$/d; s/$/\n/' >>"$work/roles"
    kubectl --kubeconfig "$kubeconfig" --request-timeout 30s get nodepools.karpenter.sh \
      -o jsonpath='{.items[*].spec.template.spec.requirements[?(@.key=="node.kubernetes.io/instance-type")].values[*]}' 2>/dev/null |
      tr ' ' '\n' | grep . | head -n 100 >>"$work/types"
  fi
done

say "network"
vpcs=$(sort -u "$work/vpcs" | paste -sd, -)
# in_vpc is the filter of what belongs to the clusters' VPCs; without one, all.
in_vpc() { if [ -n "$vpcs" ]; then printf 'Name=%s,Values=%s' "$1" "$vpcs"; else printf 'Name=owner-id,Values=*'; fi; }
for what in subnets vpcs route-tables vpc-endpoints security-groups network-acls; do
  if [ -n "$vpcs" ]; then take "ec2-describe-$what" ec2 "describe-$what" --filters "$(in_vpc vpc-id)"; else take "ec2-describe-$what" ec2 "describe-$what"; fi
done
take ec2-get-managed-resource-visibility ec2 get-managed-resource-visibility
if [ -n "$vpcs" ]; then
  take ec2-describe-nat-gateways ec2 describe-nat-gateways --filter "$(in_vpc vpc-id)"
  take ec2-describe-instances ec2 describe-instances $managed --filters "$(in_vpc vpc-id)"
  take ec2-describe-network-interfaces ec2 describe-network-interfaces $managed --filters "$(in_vpc vpc-id)"
else
  take ec2-describe-nat-gateways ec2 describe-nat-gateways
  take ec2-describe-instances ec2 describe-instances $managed
  take ec2-describe-network-interfaces ec2 describe-network-interfaces $managed
fi
# Which types each zone has at all: for what is only planned (diagnose -preflight).
take ec2-describe-instance-type-offerings ec2 describe-instance-type-offerings --location-type availability-zone
for what in internet-gateways egress-only-internet-gateways dhcp-options managed-prefix-lists vpc-peering-connections transit-gateway-attachments transit-gateway-route-tables availability-zones; do
  take "ec2-describe-$what" ec2 "describe-$what"
done
take ec2-describe-volumes ec2 describe-volumes $managed
take ec2-describe-instance-status ec2 describe-instance-status $managed --include-all-instances
take ec2-describe-capacity-reservations ec2 describe-capacity-reservations
for v in $(sort -u "$work/vpcs"); do
  for a in enableDnsSupport enableDnsHostnames; do
    take "ec2-describe-vpc-attribute.$v.$a" ec2 describe-vpc-attribute --vpc-id "$v" --attribute "$a"
  done
done
for t in $(names ec2 describe-transit-gateway-route-tables --query 'TransitGatewayRouteTables[].TransitGatewayRouteTableId'); do
  take "ec2-search-transit-gateway-routes.$t" ec2 search-transit-gateway-routes --transit-gateway-route-table-id "$t" --filters Name=state,Values=active,blackhole
done
for p in $(names ec2 describe-managed-prefix-lists --query 'PrefixLists[].PrefixListId' | head -n 50); do
  take "ec2-get-managed-prefix-list-entries.$p" ec2 get-managed-prefix-list-entries --prefix-list-id "$p"
done
if [ -n "$vpcs" ]; then
  for s in $(names ec2 describe-subnets --filters "$(in_vpc vpc-id)" --query 'Subnets[].SubnetId'); do
    take "ec2-get-subnet-cidr-reservations.$s" ec2 get-subnet-cidr-reservations --subnet-id "$s"
  done
fi

say "instances"
# ours gives a field of the instances in the clusters' VPCs.
ours() {
  if [ -n "$vpcs" ]; then names ec2 describe-instances $managed --filters "$(in_vpc vpc-id)" --query "$1"
  else names ec2 describe-instances $managed --query "$1"; fi
}
all='Reservations[].Instances[]'
images=$(ours "$all.ImageId" | paste -sd, -)
[ -z "$images" ] || take ec2-describe-images ec2 describe-images --include-deprecated --filters "Name=image-id,Values=$images"
touch "$work/ready"
for i in $(ours "$all[?State.Name!='terminated'].InstanceId" | grep -vxF -f "$work/ready" | head -n "$limit"); do
  take "ec2-describe-instance-attribute.$i.userData" ec2 describe-instance-attribute --instance-id "$i" --attribute userData
  take "ec2-get-console-output.$i" ec2 get-console-output --instance-id "$i" --latest
  # Types on Xen have no latest output.
  if grep -q "\"ec2-get-console-output.$i\": {\"code\": \"UnsupportedOperation\"" "$work/refused"; then
    sed "/^  \"ec2-get-console-output.$i\"/d" "$work/refused" >"$work/kept" && mv "$work/kept" "$work/refused"
    take "ec2-get-console-output.$i" ec2 get-console-output --instance-id "$i"
  fi
done
ours "$all.Tags[] | [?Key=='aws:ec2launchtemplate:id'].Value" >>"$work/templates"
names autoscaling describe-auto-scaling-groups --query 'AutoScalingGroups[].[LaunchTemplate.LaunchTemplateId, MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateId][]' >>"$work/templates"
begin ec2-describe-launch-template-versions LaunchTemplateVersions
for t in $(sort -u "$work/templates" | head -n 50); do
  more ec2 describe-launch-template-versions $managed --launch-template-id "$t"
  names ec2 describe-launch-template-versions $managed --launch-template-id "$t" --query 'LaunchTemplateVersions[].LaunchTemplateData.InstanceType' >>"$work/types"
done
end
# What runs, and what the groups may launch. A filter takes 200 values, and one
# that is not offered here is no error.
ours "$all.InstanceType" >>"$work/types"
groups=$(sort -u "$work/groups")
[ -z "$groups" ] || names autoscaling describe-auto-scaling-groups --auto-scaling-group-names $groups --query 'AutoScalingGroups[].MixedInstancesPolicy.LaunchTemplate.Overrides[].InstanceType' >>"$work/types"
types=$(sort -u "$work/types" | head -n 200 | paste -sd, -)
[ -z "$types" ] || take ec2-describe-instance-types ec2 describe-instance-types --filters "Name=instance-type,Values=$types"

say "auto scaling"
take autoscaling-describe-auto-scaling-groups autoscaling describe-auto-scaling-groups
begin autoscaling-describe-scaling-activities Activities
for g in $(sort -u "$work/groups"); do more autoscaling describe-scaling-activities --auto-scaling-group-name "$g" --max-items 100; done
end

say "roles"
for arn in $(ours "$all.IamInstanceProfile.Arn" | head -n 20); do
  p=${arn##*/}
  take "iam-get-instance-profile.$(key "$p")" iam get-instance-profile --instance-profile-name "$p"
  names iam get-instance-profile --instance-profile-name "$p" --query 'InstanceProfile.Roles[].Arn' >>"$work/roles"
done
: >"$work/policies"
for arn in $(sort -u "$work/roles" | head -n 30); do
  r=${arn##*/}; k=$(key "$r")
  take "iam-get-role.$k" iam get-role --role-name "$r"
  names iam get-role --role-name "$r" --query Role.PermissionsBoundary.PermissionsBoundaryArn >>"$work/policies"
  take "iam-list-attached-role-policies.$k" iam list-attached-role-policies --role-name "$r"
  names iam list-attached-role-policies --role-name "$r" --query 'AttachedPolicies[].PolicyArn' >>"$work/policies"
  take "iam-list-role-policies.$k" iam list-role-policies --role-name "$r"
  for p in $(names iam list-role-policies --role-name "$r" --query 'PolicyNames[]'); do
    take "iam-get-role-policy.$k.$(key "$p")" iam get-role-policy --role-name "$r" --policy-name "$p"
  done
done
for arn in $(sort -u "$work/policies"); do
  v=$(names iam get-policy --policy-arn "$arn" --query Policy.DefaultVersionId)
  take "iam-get-policy-version.$(key "${arn##*/}")" iam get-policy-version --policy-arn "$arn" --version-id "${v:-v1}"
done

if [ -s "$work/refused" ]; then
  { echo '{'; sed '$!s/$/,/' "$work/refused"; echo '}'; } >"$out/errors.json"
fi
if [ -n "$mask" ]; then
  say "masking"
  folder=$(CDPATH= cd -- "$out" && pwd)
  (cd "$here" && go run ./local/capture/mask "$folder") || { say "capture: it could not be masked; the files are as they were taken"; exit 1; }
fi
say "$(ls "$out" | wc -l | tr -d ' ') files in $out, $(grep -c . "$work/refused") calls refused"
say "diagnose them: go run ./cmd/rollcall diagnose $out"
