locals {
  files = var.functions == null ? fileset("${var.release}/functions", "*.zip") : toset([for name in var.functions : "${name}.zip"])

  # Lambda takes new code only where its key is another: the prefix is of what the files hold.
  digest = substr(sha256(join(",", [for file in sort(local.files) : "${file}=${filesha256("${var.release}/functions/${file}")}"])), 0, 12)
  prefix = "rollcall/${local.digest}/"
  bucket = var.bucket == null ? aws_s3_bucket.this[0].bucket : var.bucket
}

resource "aws_s3_bucket" "this" {
  count = var.bucket == null ? 1 : 0

  bucket_prefix = "rollcall-"
  force_destroy = true # all that it holds can be uploaded again
  tags          = var.tags
}

resource "aws_s3_bucket_public_access_block" "this" {
  count = var.bucket == null ? 1 : 0

  bucket                  = aws_s3_bucket.this[0].bucket
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "this" {
  count = var.bucket == null ? 1 : 0

  bucket = aws_s3_bucket.this[0].bucket
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "TLSAlone"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.this[0].arn, "${aws_s3_bucket.this[0].arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

resource "aws_s3_object" "functions" {
  for_each = local.files

  bucket = local.bucket
  key    = "${local.prefix}${each.value}"
  source = "${var.release}/functions/${each.value}"
}

resource "aws_s3_object" "template" {
  count = fileexists("${var.release}/RollcallStandard.template.json") ? 1 : 0

  bucket       = local.bucket
  key          = "${local.prefix}RollcallStandard-${filesha256("${var.release}/RollcallStandard.template.json")}.template.json"
  source       = "${var.release}/RollcallStandard.template.json"
  content_type = "application/json"
}
