# Keyed by bare name, as a table in a front end would be
search_regulations = Zoeken in regelgeving
agora--get_company_violations = Ophalen status
agora--get_report_status = Ophalen status
agora--generate_report = Genereren rapportage
