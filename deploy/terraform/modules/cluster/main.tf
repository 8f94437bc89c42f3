locals {
  group = "rollcall"
  # One source for the rights: what "make deploy" and kubectl apply too.
  objects = { for text in split("\n---\n", file("${path.module}/../../../clusterrole.yaml")) :
    "${yamldecode(text).kind}/${try(yamldecode(text).metadata.namespace, "")}" => yamldecode(text)
  }
  roles    = { for key, object in local.objects : object.metadata.namespace => object if object.kind == "Role" }
  bindings = { for key, object in local.objects : object.metadata.namespace => object if object.kind == "RoleBinding" }
}

resource "aws_eks_access_entry" "reader" {
  count = var.access_entry ? 1 : 0

  cluster_name      = var.cluster
  principal_arn     = var.reader_role_arn
  kubernetes_groups = [local.group]
  type              = "STANDARD"
  tags              = var.tags
}

resource "kubernetes_cluster_role_v1" "this" {
  metadata {
    name = local.objects["ClusterRole/"].metadata.name
  }

  dynamic "rule" {
    for_each = local.objects["ClusterRole/"].rules
    content {
      api_groups = rule.value.apiGroups
      resources  = rule.value.resources
      verbs      = rule.value.verbs
    }
  }
}

resource "kubernetes_cluster_role_binding_v1" "this" {
  metadata {
    name = local.objects["ClusterRoleBinding/"].metadata.name
  }

  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "ClusterRole"
    name      = kubernetes_cluster_role_v1.this.metadata[0].name
  }

  dynamic "subject" {
    for_each = local.objects["ClusterRoleBinding/"].subjects
    content {
      api_group = subject.value.apiGroup
      kind      = subject.value.kind
      name      = subject.value.name
    }
  }
}

resource "kubernetes_role_v1" "this" {
  for_each = local.roles

  metadata {
    name      = each.value.metadata.name
    namespace = each.key
  }

  dynamic "rule" {
    for_each = each.value.rules
    content {
      api_groups     = rule.value.apiGroups
      resources      = rule.value.resources
      resource_names = try(rule.value.resourceNames, null)
      verbs          = rule.value.verbs
    }
  }
}

resource "kubernetes_role_binding_v1" "this" {
  for_each = local.bindings

  metadata {
    name      = each.value.metadata.name
    namespace = each.key
  }

  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "Role"
    name      = kubernetes_role_v1.this[each.key].metadata[0].name
  }

  dynamic "subject" {
    for_each = each.value.subjects
    content {
      api_group = subject.value.apiGroup
      kind      = subject.value.kind
      name      = subject.value.name
    }
  }
}
