#include "dashboard.h"

// `#embed` is C23; clang takes it in any dialect, and has the object rebuilt when a file changes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "pages/index.html"
};
static const unsigned char icon_svg[] = {
#embed "pages/icon.svg"
};
static const unsigned char style_css[] = {
#embed "pages/style.css"
};
static const unsigned char api_js[] = {
#embed "pages/api.js"
};
static const unsigned char app_js[] = {
#embed "pages/app.js"
};
static const unsigned char copy_js[] = {
#embed "pages/copy.js"
};
static const unsigned char dialog_js[] = {
#embed "pages/dialog.js"
};
static const unsigned char dom_js[] = {
#embed "pages/dom.js"
};
static const unsigned char format_js[] = {
#embed "pages/format.js"
};
static const unsigned char grafana_js[] = {
#embed "pages/grafana.js"
};
static const unsigned char live_js[] = {
#embed "pages/live.js"
};
static const unsigned char plot_js[] = {
#embed "pages/plot.js"
};
static const unsigned char table_js[] = {
#embed "pages/table.js"
};
static const unsigned char page_login_js[] = {
#embed "pages/page-login.js"
};
static const unsigned char page_overview_js[] = {
#embed "pages/page-overview.js"
};
static const unsigned char page_slices_js[] = {
#embed "pages/page-slices.js"
};
static const unsigned char page_processes_js[] = {
#embed "pages/page-processes.js"
};
static const unsigned char page_campaigns_js[] = {
#embed "pages/page-campaigns.js"
};
static const unsigned char page_apps_js[] = {
#embed "pages/page-apps.js"
};
static const unsigned char page_realms_js[] = {
#embed "pages/page-realms.js"
};
static const unsigned char page_dead_letters_js[] = {
#embed "pages/page-dead-letters.js"
};
static const unsigned char page_tail_js[] = {
#embed "pages/page-tail.js"
};
static const unsigned char page_doctor_js[] = {
#embed "pages/page-doctor.js"
};
static const unsigned char page_audit_js[] = {
#embed "pages/page-audit.js"
};
static const unsigned char page_reference_js[] = {
#embed "pages/page-reference.js"
};
static const unsigned char alerts_yaml[] = {
#embed "../../deploy/prometheus/alerts.yaml"
};
static const unsigned char admin_json[] = {
#embed "../../docs/api/admin.json"
};
static const unsigned char client_json[] = {
#embed "../../docs/api/client.json"
};
static const unsigned char messages_json[] = {
#embed "../../docs/api/messages.json"
};

static const sluice_dashboard_entry files[] = {
    {"index.html", index_html, sizeof index_html},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"style.css", style_css, sizeof style_css},
    {"api.js", api_js, sizeof api_js},
    {"app.js", app_js, sizeof app_js},
    {"copy.js", copy_js, sizeof copy_js},
    {"dialog.js", dialog_js, sizeof dialog_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"format.js", format_js, sizeof format_js},
    {"grafana.js", grafana_js, sizeof grafana_js},
    {"live.js", live_js, sizeof live_js},
    {"plot.js", plot_js, sizeof plot_js},
    {"table.js", table_js, sizeof table_js},
    {"page-login.js", page_login_js, sizeof page_login_js},
    {"page-overview.js", page_overview_js, sizeof page_overview_js},
    {"page-slices.js", page_slices_js, sizeof page_slices_js},
    {"page-processes.js", page_processes_js, sizeof page_processes_js},
    {"page-campaigns.js", page_campaigns_js, sizeof page_campaigns_js},
    {"page-apps.js", page_apps_js, sizeof page_apps_js},
    {"page-realms.js", page_realms_js, sizeof page_realms_js},
    {"page-dead-letters.js", page_dead_letters_js, sizeof page_dead_letters_js},
    {"page-tail.js", page_tail_js, sizeof page_tail_js},
    {"page-doctor.js", page_doctor_js, sizeof page_doctor_js},
    {"page-audit.js", page_audit_js, sizeof page_audit_js},
    {"page-reference.js", page_reference_js, sizeof page_reference_js},
    {"alerts.yaml", alerts_yaml, sizeof alerts_yaml},
    {"admin.json", admin_json, sizeof admin_json},
    {"client.json", client_json, sizeof client_json},
    {"messages.json", messages_json, sizeof messages_json},
};

const sluice_dashboard_entry *sluice_dashboard_file(size_t index) {
    return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
