{{/* Metadata of an object: (dict "root" $ "name" "sluice-worker" "named" true); named: the label by which its pods are found. */}}
{{- define "sluice.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  app.kubernetes.io/part-of: sluice
  {{- if .named }}
  app.kubernetes.io/name: {{ .name }}
  {{- end }}
{{- end }}

{{/* The image of a role: (dict "root" $ "tag" .Values.worker.tag). */}}
{{- define "sluice.image" -}}
image: "{{ .root.Values.image.repository }}:{{ .tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}"
{{- with .root.Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- define "sluice.settings" -}}
{{ toYaml .Values.settings }}
{{- end }}

{{/* A change of the settings replaces the pods, one after the other. */}}
{{- define "sluice.digest" -}}
sluice/settings: {{ include "sluice.settings" . | sha256sum | trunc 16 | quote }}
{{- end }}

{{/* What every pod has. */}}
{{- define "sluice.pod" -}}
serviceAccountName: sluice
automountServiceAccountToken: false
# Kubernetes would set SLUICE_GATEWAY_PORT and the like for services of these names, and those are settings.
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* What every container has. */}}
{{- define "sluice.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* How a role's pods are spread: (dict "root" $ "name" "sluice-worker" "hash" "controller-revision-hash"). */}}
{{- define "sluice.spread" -}}
{{- if .root.Values.zones }}
priorityClassName: sluice
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    {{- if .root.Values.zones }}
    # Nodes that are lost have a taint, and their zone then does not count.
    nodeTaintsPolicy: Honor
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    {{- else }}
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    {{- end }}
    labelSelector:
      matchLabels: {app.kubernetes.io/name: {{ .name }}}
    matchLabelKeys: [{{ .hash }}]
{{- end }}

{{- define "sluice.config" -}}
- name: SLUICE_CONFIG
  value: /etc/sluice/settings/settings.yaml
{{- end }}

{{/* The broker, as a user whose secret has its name: (dict "root" $ "user" "worker"). */}}
{{- define "sluice.broker" -}}
- name: BROKER_USER
  valueFrom: {secretKeyRef: {name: sluice-broker-{{ .user }}, key: username}}
- name: BROKER_PASSWORD
  valueFrom: {secretKeyRef: {name: sluice-broker-{{ .user }}, key: password}}
- name: SLUICE_AMQP_URL
  value: {{ with .root.Values.broker }}{{ .scheme }}://$(BROKER_USER):$(BROKER_PASSWORD)@{{ .host }}:{{ .port }}/{{ .vhost }}{{ .query }}{{ end }}
{{- end }}

{{/* The database, as a role: (dict "root" $ "role" "worker"). */}}
{{- define "sluice.store" -}}
- name: SLUICE_STORE_URL
  value: postgres://sluice_{{ .role }}@{{ with .root.Values.database }}{{ .host }}{{ if ne (int .port) 5432 }}:{{ .port }}{{ end }}/{{ .name }}{{ end }}?sslmode=verify-full&sslrootcert=/etc/sluice/postgresql/ca.crt
- name: PGPASSWORD
  valueFrom: {secretKeyRef: {name: sluice-store-{{ .role }}, key: password}}
{{- end }}

{{/* The passwords that the owner gives the database's roles. */}}
{{- define "sluice.roles" -}}
{{- range $role := list "gateway" "worker" "coordinator" }}
- name: SLUICE_STORE_{{ upper $role }}_PASSWORD
  valueFrom: {secretKeyRef: {name: sluice-store-{{ $role }}, key: password}}
{{- end }}
{{- end }}

{{/* A process answers from the beginning, and /ready says what it waits for. */}}
{{- define "sluice.probes" -}}
startupProbe:
  httpGet: {path: /health, port: operations}
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /health, port: operations}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /ready, port: operations}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{- define "sluice.mounts" -}}
- {name: settings, mountPath: /etc/sluice/settings, readOnly: true}
- {name: postgresql, mountPath: /etc/sluice/postgresql, readOnly: true}
{{- end }}

{{/* A role's scratch space: bodies of messages that wait are on a disk, no memory. */}}
{{- define "sluice.scratch" -}}
- {name: spool, mountPath: /var/tmp}
- {name: temporary, mountPath: /tmp}
{{- end }}

{{- define "sluice.volumes" -}}
- name: settings
  configMap: {name: sluice-settings}
# Of the authority that signs the database's certificate, the certificate alone.
- name: postgresql
  secret:
    secretName: {{ .Values.database.caSecret }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end }}

{{- define "sluice.scratchVolumes" -}}
- name: spool
  emptyDir: {sizeLimit: 8Gi}
- name: temporary
  emptyDir: {sizeLimit: 256Mi}
{{- end }}
