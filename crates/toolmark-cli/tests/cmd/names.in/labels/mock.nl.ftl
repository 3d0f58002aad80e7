# A copy that drifted
agora--get_report_status = Ophalen rapport status
